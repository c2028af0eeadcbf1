"""GPUs of the replicas that have engines. A replica sees only the GPUs that it asks for (finray.cluster.gpus)."""

from __future__ import annotations

from finray.core.settings import Settings
from finray.engine import asks_llm
from finray.models.vllm_engine import gpus_of
from serve.config import Replicas, ServeArguments


def with_gpus(arguments: ServeArguments, settings: Settings, free: float = 0.0) -> ServeArguments:
    """``arguments`` with GPUs for engines that load models themselves, unless ``num_gpus`` of their replicas is set.

    Engines get the GPUs of their own vLLM. If they have none, and neither an encoder, a reranker nor a language model
    is deployed, each replica gets an equal share of the ``free`` GPUs for its encoder and rerankers.
    """
    name = "ingress" if arguments.answering is None else "answering"
    engines: Replicas = getattr(arguments, name)
    if engines.num_gpus:
        return arguments
    served = set() if arguments.llm is None else {"llm"}
    own = [llm for which, llm in settings.llms.items() if llm.backend == "vllm" and which not in served]
    gpus = float(sum(gpus_of(llm) for llm in own)) if asks_llm(settings) else 0.0
    if not gpus and arguments.encoder is None and arguments.reranker is None and arguments.llm is None:
        gpus = min(1.0, int(100 * free / engines.max_replicas) / 100)
    return arguments.model_copy(update={name: engines.model_copy(update={"num_gpus": gpus})})

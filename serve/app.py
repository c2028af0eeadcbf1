"""The Ray Serve application. Start it with one of:

serve run serve.app:build index=/path/to/index
FINRAY_SERVE_INDEX=/path/to/index serve run serve.app:app
serve deploy infra/serve.yaml
finray serve --index /path/to/index
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from finray.core.errors import SettingsError
from finray.index.reading.reader import IndexReader
from finray.storage.locations import normalize
from serve.answering import ANSWERING, Handles
from serve.batches import KEEPER
from serve.config import ServeArguments, read_arguments
from serve.gpus import with_gpus
from serve.ingress import INGRESS, Application
from serve.models import ENCODER, RERANKER


def build(given: ServeArguments | Mapping[str, Any]) -> Application:
    """The bound application. Serve passes the arguments of its command line or configuration file.

    Raises SettingsError, IndexMissingError, IndexMismatchError before any replica starts.
    """
    arguments = read_arguments(given)
    settings = arguments.settings()
    IndexReader.open(arguments.index, settings)
    arguments = with_gpus(arguments.model_copy(update={"index": normalize(arguments.index)}), settings)
    handles: Handles = {}
    if (encoder := arguments.encoder) is not None:
        handles["encoder"] = ENCODER.options(**encoder.options()).bind(
            settings.encoder, encoder.max_batch_size, encoder.batch_wait_s
        )
    if (reranker := arguments.reranker) is not None:
        for name in ("document_reranker", "passage_reranker"):
            if (chosen := getattr(settings, name)).model:
                handles[name] = RERANKER.options(name=name, **reranker.options()).bind(
                    chosen, reranker.max_batch_size, reranker.batch_wait_s
                )
    if arguments.llm is not None:
        handles["llm"] = resolve_name(arguments.llm.build)(settings, arguments.llm.options)
    if arguments.answering is not None:
        shared = {name: handle for name, handle in handles.items() if name == "llm"}  # the ingress serves it too
        handles = {"answering": ANSWERING.options(**arguments.answering.options()).bind(arguments, handles), **shared}
    if arguments.ingress.max_replicas > 1:
        one = arguments.ingress.model_copy(update={"min_replicas": 1, "max_replicas": 1})
        handles = {**handles, "batches": KEEPER.options(**one.options()).bind(arguments, handles)}
    return INGRESS.options(**arguments.ingress.options()).bind(arguments, handles)


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(name)
    index = os.environ.get("FINRAY_SERVE_INDEX")
    if not index:
        raise SettingsError("set FINRAY_SERVE_INDEX to an index, or run: serve run serve.app:build index=...")
    return build(ServeArguments(index=index))

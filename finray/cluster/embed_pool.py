"""Plans and runs the pool of embedding workers: their number, shares of processors and GPUs, and batches."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import ray
import ray.data

from finray.cluster.gpus import hide_unassigned_gpus
from finray.core.errors import ModelUnavailableError
from finray.core.settings import EncoderSettings, Settings
from finray.index.job.attempts import Attempts
from finray.index.job.embedding import check_encoder, embed_filings
from finray.models.encoder import Encoder

LoadEncoder = Callable[..., Encoder]
"""As ``finray.models.encoder_loading.load_encoder``."""

_PARSE_CPUS = 0.1
WRITE_CPUS = 0.1
"""Beside workers without a GPU: parsing and writing take a tenth of the time of embedding, or less."""
_EMBED_CPUS = 0.8
"""What parsing and writing leave of a processor."""
_LEAST_EMBED_CPUS = 0.45
_ROOM = 0.9
"""Share of the remaining processors that all workers may take after a node is lost."""
_GPU_TOKENS = 262_144
_FILINGS_TOGETHER, _FILINGS_ALONE = 64, 4
_BATCHES_TOGETHER, _BATCHES_ALONE = 2, 8
"""Least number of batches for each worker: more finish evenly, fewer fill a GPU better."""
_EPSILON = 1e-6


@dataclass(frozen=True, slots=True)
class Node:
    cpus: float
    gpus: float


@dataclass(frozen=True, slots=True)
class EmbedPool:
    """``minimum`` to ``maximum`` workers, ``first`` at the start, each with ``cpus`` and ``gpus``. A worker gets up to
    ``filings`` at a time and encodes several together until they have ``tokens`` tokens (0: each filing alone), with
    ``fixed_shapes`` or without. A parsing task takes ``parse_cpus``."""

    minimum: int
    maximum: int
    first: int
    cpus: float
    gpus: float
    filings: int
    tokens: int
    fixed_shapes: bool
    parse_cpus: float

    @property
    def strategy(self) -> ray.data.ActorPoolStrategy:
        return ray.data.ActorPoolStrategy(min_size=self.minimum, max_size=self.maximum, initial_size=self.first)

    def fits(self, node: Node) -> bool:
        """Whether a worker has room on ``node`` if that is otherwise empty."""
        return node.cpus + _EPSILON >= self.cpus and node.gpus + _EPSILON >= self.gpus


def cluster_nodes() -> list[Node]:
    """The nodes of the cluster that are alive."""
    found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    resources = [node["Resources"] for node in found if node["Alive"]]
    return [Node(one.get("CPU", 0.0), one.get("GPU", 0.0)) for one in resources]


def plan_pool(nodes: list[Node], settings: Settings, files: int) -> EmbedPool:
    """The pool for ``files`` to index on a cluster of ``nodes``, which may have no processors yet."""
    chosen = settings.index_job
    gpus = _gpus_per_worker(nodes, settings)
    room = sum(int((node.gpus + _EPSILON) / gpus if gpus else node.cpus) for node in nodes)
    maximum = chosen.embed_workers_max or max(1, room, chosen.embed_workers_min)
    minimum = chosen.embed_workers_min or (1 if chosen.embed_workers_max else maximum)
    maximum = max(1, min(maximum, files))
    minimum = min(minimum, maximum)
    tokens = chosen.batch_tokens if chosen.batch_tokens != "auto" else _GPU_TOKENS if gpus else 0
    filings = (
        chosen.batch_filings if chosen.batch_filings != "auto" else _FILINGS_TOGETHER if tokens else _FILINGS_ALONE
    )
    share = files // ((_BATCHES_TOGETHER if tokens else _BATCHES_ALONE) * maximum)
    embed_cpus, parse_cpus = _cpus(nodes, maximum, gpus)
    return EmbedPool(
        minimum=minimum,
        maximum=maximum,
        first=max(minimum, min(room, maximum)),
        cpus=embed_cpus,
        gpus=gpus,
        filings=max(1, min(filings, share)),
        tokens=tokens,
        fixed_shapes=chosen.fixed_shapes and tokens > 0,
        parse_cpus=parse_cpus,
    )


def _gpus_per_worker(nodes: list[Node], settings: Settings) -> float:
    chosen, device = settings.index_job.gpus_per_worker, settings.encoder.device
    if chosen != "auto":
        return float(chosen)
    if device == "auto":
        return 1.0 if any(node.gpus >= 1 for node in nodes) else 0.0
    return 1.0 if device.startswith("cuda") else 0.0


def _cpus(nodes: list[Node], workers: int, gpus: float) -> tuple[float, float]:
    """Processors of an embedding worker and of a parsing task.

    A worker with a GPU keeps a processor busy with tokens, and parsing needs whole processors to keep up. Workers
    without a GPU compute all the time and need little parsing. Their share leaves room on the other nodes for the
    workers of a lost one: if these could not restart, their work would wait for a new node.
    """
    cpus = sum(node.cpus for node in nodes)
    if gpus:
        return (1.0, 0.8) if not cpus or cpus >= workers + 1 else (0.45, 0.35)
    left = sorted(node.cpus for node in nodes if node.cpus)[:-1]  # if the largest node is lost
    share = _EMBED_CPUS
    if left and workers <= cpus:
        while share > _LEAST_EMBED_CPUS and sum(int(_ROOM * node_cpus / share) for node_cpus in left) < workers:
            share = round(share - 0.05, 2)
    return share, _PARSE_CPUS


def embedded(
    parsed: ray.data.Dataset, pool: EmbedPool, settings: EncoderSettings, attempts: Attempts, load: LoadEncoder
) -> ray.data.Dataset:
    """``parsed`` filings with vectors. Rows hold one column, ``content``: a pickled StagedFiling."""
    return parsed.map_batches(
        _Embedder,
        fn_constructor_kwargs={
            "settings": _device_of(settings, pool),
            "tokens": pool.tokens,
            "fixed_shapes": pool.fixed_shapes,
            "attempts": attempts,
            "load": load,
        },
        batch_size=pool.filings,
        batch_format="pyarrow",
        compute=pool.strategy,
        num_cpus=pool.cpus,
        num_gpus=pool.gpus or None,
    )


def _device_of(settings: EncoderSettings, pool: EmbedPool) -> EncoderSettings:
    """``settings`` for a worker of ``pool``: without a GPU of its own it uses none, which Ray does not ensure."""
    return settings if pool.gpus else settings.model_copy(update={"device": "cpu"})


class _Embedder:
    """An embedding worker, with one thread: with more, the workers would compete for processors.

    It returns a batch as a whole: if the worker dies, Ray repeats what was not returned, perhaps in other batches.
    """

    def __init__(
        self, settings: EncoderSettings, tokens: int, fixed_shapes: bool, attempts: Attempts, load: LoadEncoder
    ) -> None:
        hide_unassigned_gpus()
        self._encoder = load(settings, threads=1, fixed_shapes=fixed_shapes)
        check_encoder(self._encoder)
        self._tokens = tokens
        self._attempts = attempts

    def __call__(self, batch: pa.Table) -> pa.Table:
        staged = [pickle.loads(content) for content in batch["content"].to_pylist()]
        try:
            done = embed_filings(staged, self._encoder, self._attempts, process_name(), tokens=self._tokens)
        except ModelUnavailableError:
            # A GPU that has failed stays failed for this process. Ray starts another, which checks its encoder too.
            os._exit(1)
        return pa.table({"content": pa.array([pickle.dumps(one) for one in done], pa.binary())})


def process_name() -> str:
    """This process among those of the cluster."""
    return f"{socket.gethostname()}:{os.getpid()}"

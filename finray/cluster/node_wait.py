"""Warns that a job waits for nodes: Ray itself waits without a message, forever if necessary."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from finray.cluster.embed_pool import EmbedPool, Node, cluster_nodes

_log = logging.getLogger(__name__)
_CHECK_SECONDS = 2.0
_REPEAT_SECONDS = 60.0


@contextmanager
def announced_wait(pool: EmbedPool, nodes: Callable[[], list[Node]] = cluster_nodes) -> Iterator[None]:
    """Inside the block, log a warning while no node of the cluster has room for a worker of ``pool``."""
    done = threading.Event()
    thread = threading.Thread(target=_watch, args=(pool, nodes, done), name="node-wait", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _watch(pool: EmbedPool, nodes: Callable[[], list[Node]], done: threading.Event) -> None:
    since: float | None = None
    warned = 0.0
    while True:
        now = time.monotonic()
        if any(pool.fits(node) for node in nodes()):
            if since is not None:
                _log.warning("a node has come after %.0f s; the job goes on", now - since)
            since = None
        elif since is None or now - warned >= _REPEAT_SECONDS:
            since, warned = now if since is None else since, now
            _log.warning("%s", _waiting(pool, now - since))
        if done.wait(_CHECK_SECONDS):
            return


def _waiting(pool: EmbedPool, seconds: float) -> str:
    wanted = f"{pool.cpus:g} CPU and {pool.gpus:g} GPU" if pool.gpus else f"{pool.cpus:g} CPU"
    return (
        f"waiting for a node ({seconds:.0f} s so far): none of the cluster has the {wanted} of a worker. "
        "It comes with an autoscaler or with `ray start`; see index_job.gpus_per_worker"
    )

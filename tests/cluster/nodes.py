"""Ray clusters of several nodes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import ray


@contextmanager
def cluster_of_nodes(monkeypatch: pytest.MonkeyPatch, *, notices_loss: bool = False, **head: Any) -> Iterator[Any]:
    """A cluster to which nodes can be added, connected to this process. ``head`` are the resources of its head.

    With ``notices_loss`` a node counts as lost after some seconds.
    """
    from ray.cluster_utils import Cluster

    if ray.is_initialized():
        ray.shutdown()
    if notices_loss:
        for name in ("period_ms", "timeout_ms", "initial_delay_ms"):
            monkeypatch.setenv(f"RAY_health_check_{name}", "1000")
        monkeypatch.setenv("RAY_health_check_failure_threshold", "3")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    cluster = Cluster(initialize_head=True, head_node_args={"include_dashboard": False, **head})
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]

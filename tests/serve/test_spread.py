"""Two ingresses on two nodes: one is left when a node is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import ray
from ray import serve
from ray.exceptions import RayError

from serve.config import Replicas

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(600)]


class Here:
    """Stands in for the ingress."""

    def __call__(self) -> str:
        return str(ray.get_runtime_context().get_node_id())


def test_a_service_outlives_a_node(monkeypatch: pytest.MonkeyPatch, until: Callable[..., None]) -> None:
    from ray.cluster_utils import Cluster

    if ray.is_initialized():
        ray.shutdown()
    for name in ("period_ms", "timeout_ms", "initial_delay_ms"):
        monkeypatch.setenv(f"RAY_health_check_{name}", "1000")
    monkeypatch.setenv("RAY_health_check_failure_threshold", "3")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        serve.start(proxy_location="Disabled")
        # Each node has room for both: only max_replicas_per_node keeps them apart.
        options = Replicas(min_replicas=2, max_replicas=2, max_replicas_per_node=1, num_cpus=0.2).options()
        deployment: Any = serve.deployment(Here)
        handle: Any = serve.run(deployment.options(**options).bind(), name="here", route_prefix=None)
        workers = {node.node_id for node in nodes}
        seen: set[str] = set()

        def both() -> bool:
            seen.update(handle.remote().result(timeout_s=60) for _ in range(20))
            return len(seen) == 2

        until(both, "replicas on two nodes")
        assert seen == workers
        cluster.remove_node(nodes[0], allow_graceful=False)
        left = nodes[1].node_id

        def answers() -> bool:
            try:
                return bool(handle.remote().result(timeout_s=60) == left)
            except RayError:  # what was in progress on the lost node
                return False

        until(answers, "an answer from the node that is left")
    finally:
        serve.shutdown()  # type: ignore[no-untyped-call]
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]

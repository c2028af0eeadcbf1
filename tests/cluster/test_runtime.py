"""A local cluster takes orders from its own process only."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(300)]

OWNER = """
import os, sys, ray
from finray.cluster.runtime import ray_cluster
with ray_cluster(num_cpus=1):
    print(ray.get_runtime_context().gcs_address, os.environ["RAY_AUTH_TOKEN"], flush=True)
    print(ray.get(ray.remote(lambda: 6 * 7).remote()), flush=True)
    sys.stdin.readline()
"""
QUIET = """
from finray.cluster.runtime import ray_cluster
import ray

class Restarts:
    def __init__(self, argument):
        self.answer = 6 * len(argument)

    def get(self):
        return self.answer

with ray_cluster(num_cpus=1):
    actor = ray.remote(max_restarts=-1)(Restarts).remote(ray.put(b"........"))  # of which Ray warns
    print(ray.get(actor.get.remote()), flush=True)
"""
STRANGER = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False); print(len(ray.nodes()), 'nodes')"


def test_ray_prints_nothing() -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run([sys.executable, "-c", QUIET], env=plain, capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout, done.stderr) == (0, "48\n", "")


def test_clients_without_the_token_are_refused() -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], env=plain, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdin is not None
        assert owner.stdout is not None
        address, token = owner.stdout.readline().split()
        assert owner.stdout.readline() == "42\n"

        def knock(**variables: str) -> subprocess.CompletedProcess[str]:
            command = [sys.executable, "-c", STRANGER, address]
            return subprocess.run(command, env=plain | variables, capture_output=True, text=True, timeout=120)

        assert "1 nodes" in knock(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=token).stdout
        for variables in ({"RAY_AUTH_MODE": "disabled"}, {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}):
            refused = knock(**variables)
            assert refused.returncode != 0
            assert "nodes" not in refused.stdout
        owner.stdin.write("\n")
        owner.stdin.flush()
        assert owner.wait(60) == 0

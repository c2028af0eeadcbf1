"""The ``ray up`` file: valid against Ray's schema, and consistent with the rest of the repository."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema
import pytest
from ray.scripts.scripts import start

from tests.infra.files import CLUSTER, POLICIES, documents


@pytest.fixture(scope="module")
def cluster() -> dict[str, Any]:
    (document,) = documents(CLUSTER)
    return document


def test_it_fits_rays_schema(cluster: dict[str, Any]) -> None:
    schema = json.loads((resources.files("ray.autoscaler") / "ray-schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(cluster)


def test_ray_takes_the_start_commands(cluster: dict[str, Any]) -> None:
    commands = [*cluster["head_start_ray_commands"], *cluster["worker_start_ray_commands"]]
    starts = [command for command in commands if command.startswith("ray start")]
    assert len(starts) == 2
    for command in starts:
        start.make_context("start", command.split()[2:])


def test_the_head_stays_and_workers_come_and_go(cluster: dict[str, Any]) -> None:
    types = dict(cluster["available_node_types"])
    head = types.pop(cluster["head_node_type"])
    assert "InstanceMarketOptions" not in head["node_config"]
    assert head["resources"] == {"CPU": 0}
    for name, node in types.items():
        assert node["node_config"]["InstanceMarketOptions"] == {"MarketType": "spot"}, name
        assert (node["min_workers"], node["max_workers"] > 0) == (0, True), name
    assert cluster["max_workers"] >= max(node["max_workers"] for node in types.values())


def test_nodes_are_private_and_no_secret_is_in_the_file(cluster: dict[str, Any]) -> None:
    assert cluster["provider"]["use_internal_ips"]
    assert "-e RAY_AUTH_MODE=token" in cluster["docker"]["run_options"]
    assert not any("TOKEN=" in option or "SECRET" in option for option in cluster["docker"]["run_options"])
    token = "/home/ray/.ray/auth_token"
    assert f"-e RAY_AUTH_TOKEN_PATH={token}" in cluster["docker"]["run_options"]
    assert token in cluster["file_mounts"]


def test_nodes_have_roles_that_a_policy_is_written_for(cluster: dict[str, Any]) -> None:
    profiles = {n["node_config"]["IamInstanceProfile"]["Arn"] for n in cluster["available_node_types"].values()}
    assert {arn.rsplit("/", 1)[1] for arn in profiles} == {"finray-ray-head", "finray-ray-worker"}
    (policy,) = [path for path in POLICIES if path.stem == "ray-head"]
    passed = [s for s in json.loads(policy.read_text(encoding="utf-8"))["Statement"] if s["Action"] == "iam:PassRole"]
    assert [s["Resource"].rsplit("/", 1)[1] for s in passed] == ["finray-ray-worker"]


def test_rays_own_setup_commands_are_off(cluster: dict[str, Any]) -> None:
    # Ray's defaults for AWS install a Ray of another version.
    assert [cluster[f"{who}setup_commands"] for who in ("", "head_", "worker_")] == [[], [], []]

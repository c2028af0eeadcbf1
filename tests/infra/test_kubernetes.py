"""The manifests: valid against the published schemas, and consistent with finray's command line and each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from ray.serve.schema import ServeDeploySchema
from typer.main import get_command

from finray.cli import app
from finray.core.errors import SettingsError
from finray.core.settings import Settings, load_settings
from finray.edgar.contact import checked_contact
from serve.config import ServeArguments
from tests.infra.conftest import Schemas
from tests.infra.files import (
    IMAGE,
    IMAGES,
    INFRA,
    JOBS,
    MANIFESTS,
    NOT_FOR_THE_CLUSTER,
    REPOSITORY,
    documents,
    entry_points,
    locked,
    pods,
    ray_clusters,
    resources,
    values,
    walk,
)

KUBERNETES = "1.33"
COMMANDS = {"index.py": "index", "answer.py": "answer", "maintain.py": "maintain", "sync_edgar.py": "sync"}


def of_ray(document: dict[str, Any]) -> bool:
    return str(document["apiVersion"]).startswith("ray.io/")


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema``, with an error for unknown fields: the API server would drop them silently."""
    copy = {key: closed(value) if isinstance(value, dict) else value for key, value in schema.items()}
    names = isinstance(copy.get("properties"), dict) and copy.get("type") == "object"
    if names and "additionalProperties" not in copy and not copy.get("x-kubernetes-preserve-unknown-fields"):
        copy["additionalProperties"] = False
    return copy


@pytest.mark.parametrize("document", [pytest.param(d, id=name) for name, d in resources() if of_ray(d)])
def test_ray_resources_fit_the_schema_of_kuberay(custom_resources: Schemas, document: dict[str, Any]) -> None:
    schema = custom_resources[document["kind"], document["apiVersion"]]
    jsonschema.Draft7Validator(closed(schema["properties"]["spec"])).validate(document["spec"])


@pytest.mark.parametrize("document", [pytest.param(d, id=name) for name, d in resources() if not of_ray(d)])
def test_core_resources_fit_the_schema_of_kubernetes(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_pods_within_ray_resources_fit_the_schema_of_kubernetes() -> None:
    for name, document in resources():
        for spec in pods(document) if of_ray(document) else ():
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec}
            try:
                kubernetes_validate.validate(pod, KUBERNETES, strict=True)
            except kubernetes_validate.ValidationError as error:
                pytest.fail(f"{name}: {error.message}")


@pytest.mark.parametrize(("name", "words"), entry_points())
def test_every_job_is_a_file_of_jobs_with_arguments_that_parse(name: str, words: list[str]) -> None:
    assert words[0] == "python"
    assert words[1].startswith(JOBS)
    script = words[1].removeprefix(JOBS)
    assert (REPOSITORY / "jobs" / script).is_file()
    command = get_command(app).commands[COMMANDS[script]]  # type: ignore[attr-defined]
    command.make_context(COMMANDS[script], words[2:])


def test_the_nightly_job_is_one_and_the_same() -> None:
    (by_hand,) = documents(INFRA / "kubernetes" / "sync-job.yaml")
    (by_kuberay,) = documents(INFRA / "kubernetes" / "sync-raycronjob.yaml")
    plain = documents(INFRA / "kubernetes" / "sync-cronjob.yaml")[0]
    assert by_kuberay["spec"]["jobTemplate"] == by_hand["spec"]
    assert plain["spec"]["schedule"] == by_kuberay["spec"]["schedule"]
    assert plain["spec"]["timeZone"] == by_kuberay["spec"]["timeZone"]
    assert "generateName" in by_hand["metadata"]  # created anew every night


def test_the_endpoint_starts_a_known_application() -> None:
    (service,) = documents(INFRA / "kubernetes" / "serve.yaml")
    config = ServeDeploySchema(**yaml.safe_load(service["spec"]["serveConfigV2"]))
    (application,) = config.applications
    assert application.import_path == "serve.app:build"
    arguments = ServeArguments.model_validate(application.args)
    assert arguments.auth
    asked = arguments.ingress.num_cpus + arguments.answering.max_replicas * arguments.answering.num_cpus  # type: ignore[union-attr]
    (group,) = service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    cpus = group["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"]
    assert asked <= group["maxReplicas"] * float(cpus)


@pytest.mark.parametrize(("name", "cluster"), ray_clusters())
def test_ray_is_the_locked_one_and_asks_for_a_token(name: str, cluster: dict[str, Any]) -> None:
    assert cluster["rayVersion"] == locked("ray")
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    for group in cluster["workerGroupSpecs"]:
        fixed = group["minReplicas"] == group["replicas"] == group["maxReplicas"]
        assert fixed or cluster["enableInTreeAutoscaling"]
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]


def test_no_pod_is_root_or_unlimited_or_holds_a_key() -> None:
    for name, document in resources():
        for spec in pods(document):
            assert spec["securityContext"]["runAsNonRoot"], name
            assert spec["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault", name
            for container in spec["containers"]:
                assert container["securityContext"]["allowPrivilegeEscalation"] is False, name
                assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}, name
                assert container["securityContext"]["readOnlyRootFilesystem"] is True, name
                assert container["resources"]["requests"].keys() >= {"cpu", "memory"}, name
                assert "memory" in container["resources"]["limits"], name
        for variable in (v for entries in values(document, "env") for v in entries):
            assert not variable["name"].endswith(("KEY", "SECRET", "TOKEN")) or "value" not in variable, name
        assert document["kind"] != "Secret", name


def test_writable_paths_are_ephemeral_volumes() -> None:
    for name, document in resources():
        for spec in pods(document):
            volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
            for container in spec["containers"]:
                mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
                if not IMAGE.match(container["image"]):
                    assert all(mount["readOnly"] for mount in mounts.values()), name
                    continue
                # Ray's folder, temporary files and downloads; what libraries keep at home. KubeRay adds /dev/shm.
                assert mounts.keys() == {"/tmp", "/home/ray"}, name
                for mount in mounts.values():
                    assert volumes[mount["name"]]["emptyDir"]["sizeLimit"], name
    home = [line for path in IMAGES for line in path.read_text("utf-8").splitlines() if "useradd" in line]
    assert all("--uid 1000 --create-home" in line and line.endswith(" ray") for line in home)


def test_the_autoscaler_of_a_head_has_the_same_limits() -> None:
    found = [cluster for _, cluster in ray_clusters() if cluster.get("enableInTreeAutoscaling")]
    assert found
    for cluster in found:
        options = cluster["autoscalerOptions"]
        assert options["securityContext"] == {
            "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True,
        }  # fmt: skip
        head = cluster["headGroupSpec"]["template"]["spec"]
        assert options["volumeMounts"] == head["containers"][0]["volumeMounts"]


def test_references_resolve() -> None:
    named = {(d["kind"], d["metadata"].get("name")) for _, d in resources()}
    (kustomization,) = documents(INFRA / "kubernetes" / "kustomization.yaml")
    named |= {("ConfigMap", generated["name"]) for generated in kustomization["configMapGenerator"]}
    for name, document in resources():
        assert document["metadata"].get("namespace") == "finray" or document["kind"] == "Namespace", name
        for mapping in walk(document):
            if "serviceAccountName" in mapping:
                assert ("ServiceAccount", mapping["serviceAccountName"]) in named, name
            if "configMapRef" in mapping:
                assert ("ConfigMap", mapping["configMapRef"]["name"]) in named, name
            if isinstance(mapping.get("configMap"), dict):
                assert ("ConfigMap", mapping["configMap"]["name"]) in named, name
    files = [*kustomization["resources"], *(f for g in kustomization["configMapGenerator"] for f in g["files"])]
    assert {Path(INFRA / "kubernetes" / file) for file in files} <= set(MANIFESTS)


def test_the_settings_exist_in_finray(monkeypatch: pytest.MonkeyPatch) -> None:
    (document,) = documents(INFRA / "kubernetes" / "settings.yaml")
    data: dict[str, str] = document["data"]
    settings = load_settings(environment=data)
    assert settings.serving.keys.startswith("s3://")
    unknown = {name for name in data if name.startswith("FINRAY_")} - {
        f"FINRAY_{section.upper()}__{field.upper()}"
        for section, values_ in Settings().model_dump().items()
        for field in values_
    }
    assert unknown == set()
    # Whoever forgets the contact is told, and sends SEC nothing.
    with pytest.raises(SettingsError):
        checked_contact(settings.edgar.contact)


def test_only_listed_traffic_may_enter() -> None:
    policies = [d for _, d in resources() if d["kind"] == "NetworkPolicy"]
    by_name = {policy["metadata"]["name"]: policy["spec"] for policy in policies}
    everything = by_name["nothing-comes-in"]
    assert everything == {"podSelector": {}, "policyTypes": ["Ingress"]}
    for name, spec in by_name.items():
        for rule in spec.get("ingress", ()):
            assert rule["from"], name
    component = by_name["clients-reach-the-endpoint"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
    (service,) = documents(INFRA / "kubernetes" / "serve.yaml")
    assert component in values(service, "app.kubernetes.io/component")
    submitter = "finray-submitter"
    assert submitter in values(by_name, "app.kubernetes.io/component")
    for _, document in resources():
        for template in values(document, "submitterPodTemplate"):
            assert template["metadata"]["labels"]["app.kubernetes.io/component"] == submitter


def test_helm_values_name_the_gate() -> None:
    assert "kuberay-values.yaml" in NOT_FOR_THE_CLUSTER
    (values_,) = documents(INFRA / "kubernetes" / "kuberay-values.yaml")
    assert values_["featureGates"] == [{"name": "RayCronJob", "enabled": True}]


def test_traffic_that_pods_need_may_leave() -> None:
    policies = {d["metadata"]["name"]: d["spec"] for _, d in resources() if d["kind"] == "NetworkPolicy"}
    open_to: dict[str, set[int]] = {}
    for rule in policies["only-https-goes-out"]["egress"]:
        for peer in rule.get("to", [{"ipBlock": {"cidr": "0.0.0.0/0"}}]):
            if "ipBlock" in peer:
                open_to.setdefault(peer["ipBlock"]["cidr"], set()).update(port["port"] for port in rule["ports"])
    assert open_to == {
        "169.254.20.10/32": {53},  # NodeLocal DNSCache
        "169.254.170.23/32": {80},  # EKS Pod Identity
        "fd00:ec2::23/128": {80},
        "0.0.0.0/0": {443},  # and not 169.254.169.254, the machine's metadata
    }
    # Who talks to the API server may reach one at 6443.
    selected = [p["podSelector"]["matchLabels"] for p in policies.values() if 6443 in values(p, "port")]
    assert {"ray.io/node-type": "head"} in selected
    for name, document in resources():
        for pod in (d for d in walk(document) if "serviceAccountName" in d and d.get("containers")):
            if pod["containers"][0]["image"].startswith("registry.k8s.io/kubectl"):
                assert {"app.kubernetes.io/component": "finray-scheduler"} in selected, name
    metrics = policies["metrics-are-scraped"]["ingress"][0]
    assert {port["port"] for port in metrics["ports"]} == {8080, 44217, 44227}
    assert all(peer.keys() == {"namespaceSelector"} for peer in metrics["from"])


def test_pods_with_a_gpu_are_let_onto_nodes_with_gpus() -> None:
    pods_ = [(name, spec) for name, document in resources() for spec in pods(document)]
    with_gpu = [(name, s) for name, s in pods_ if "nvidia.com/gpu" in str(values(s, "limits"))]
    assert with_gpu
    for name, spec in with_gpu:
        assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in spec["tolerations"], name
    for name, spec in pods_:
        if (name, spec) not in with_gpu:
            assert "nvidia.com/gpu" not in str(spec.get("tolerations")), name


@pytest.mark.parametrize(("name", "words"), entry_points())
def test_one_bad_filing_starts_no_second_cluster(name: str, words: list[str]) -> None:
    tolerant = {"index.py", "answer.py", "sync_edgar.py"}
    assert ("--exit-zero" in words) == (words[1].removeprefix(JOBS) in tolerant)

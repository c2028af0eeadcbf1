"""The manifests: valid against the published schemas, and consistent with finray's command line and each other."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import kubernetes_validate
import pytest
import yaml
from ray.serve.schema import ServeDeploySchema
from typer.main import get_command

from finray.cli import app
from finray.cli.options import settings_of
from finray.core.errors import SettingsError
from finray.core.settings import Settings, load_settings
from finray.edgar.contact import checked_contact
from finray.models.fetch import models_of
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
    commands,
    documents,
    entry_points,
    locked,
    parsed,
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_nightly_job_is_one_and_the_same() -> None:
    (by_hand,) = documents(INFRA / "kubernetes" / "sync-job.yaml")
    (by_kuberay,) = documents(INFRA / "kubernetes" / "sync-raycronjob.yaml")
    plain = documents(INFRA / "kubernetes" / "sync-cronjob.yaml")[0]
    assert by_kuberay["spec"]["jobTemplate"] == by_hand["spec"]
    assert plain["spec"]["schedule"] == by_kuberay["spec"]["schedule"]
    assert plain["spec"]["timeZone"] == by_kuberay["spec"]["timeZone"]
    assert "generateName" in by_hand["metadata"]  # created anew every night


def services() -> list[tuple[dict[str, Any], ServeArguments]]:
    """Each RayService and the arguments of its application."""
    found = []
    for _, service in resources():
        if service["kind"] == "RayService":
            config = ServeDeploySchema(**yaml.safe_load(service["spec"]["serveConfigV2"]))
            (application,) = config.applications
            assert application.import_path == "serve.app:build"
            found.append((service, ServeArguments.model_validate(application.args)))
    return found


class Deployment(NamedTuple):
    name: str
    cpu: float
    gpu: float
    fewest: int
    most: int


def deployments(arguments: ServeArguments) -> list[Deployment]:
    """Every deployment of the application."""
    settings = arguments.settings()
    rerankers = [name for name in ("document_reranker", "passage_reranker") if getattr(settings, name).model]
    named = {"ingress": arguments.ingress, "answering": arguments.answering, "encoder": arguments.encoder}
    named |= dict.fromkeys(rerankers, arguments.reranker)
    if arguments.ingress.max_replicas > 1:
        named["batches"] = arguments.ingress.model_copy(update={"min_replicas": 1, "max_replicas": 1})
    found = [
        Deployment(name, replicas.num_cpus, replicas.num_gpus, replicas.min_replicas, replicas.max_replicas)
        for name, replicas in named.items()
        if replicas is not None
    ]
    if arguments.llm is not None:
        per, scale = arguments.llm.options["ray_actor_options"], arguments.llm.options["autoscaling_config"]
        found.append(Deployment("llm", per["num_cpus"], per["num_gpus"], scale["min_replicas"], scale["max_replicas"]))
    return found


@pytest.mark.parametrize("number", range(2))
def test_the_replicas_of_the_endpoint_fit_its_nodes(number: int) -> None:
    service, arguments = services()[number]
    assert arguments.auth
    groups = service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    limits = [group["template"]["spec"]["containers"][0]["resources"]["limits"] for group in groups]
    wanted = deployments(arguments)
    for nodes, cpus, gpus in (
        ("minReplicas", sum(d.cpu * d.fewest for d in wanted), sum(d.gpu * d.fewest for d in wanted)),
        ("maxReplicas", sum(d.cpu * d.most for d in wanted), sum(d.gpu * d.most for d in wanted)),
    ):
        for kind, asked in (("cpu", cpus), ("nvidia.com/gpu", gpus)):
            there = sum(group[nodes] * float(limit.get(kind, 0)) for group, limit in zip(groups, limits, strict=True))
            assert asked <= there, (nodes, kind)


def test_the_gpu_service_scales_encoder_rerankers_and_language_model() -> None:
    plain, gpu = (arguments for _, arguments in sorted(services(), key=lambda pair: pair[1].llm is not None))
    assert [d for d in deployments(plain) if d.gpu] == []
    scaled = {d.name: d.most > d.fewest for d in deployments(gpu) if d.gpu}
    assert scaled == dict.fromkeys(("encoder", "document_reranker", "passage_reranker", "llm"), True)
    settings = gpu.settings()
    assert settings.llm.backend == "vllm"  # nothing is asked at an address that no pod has
    assert set(settings.llms) == {"llm"}
    # One GPU holds one replica of each small model, or of the language model.
    assert sum(d.gpu for d in deployments(gpu) if d.name != "llm") <= 1
    assert [d.gpu for d in deployments(gpu) if d.name == "llm"] == [1]
    packing = {"name": "RAY_SERVE_USE_PACK_SCHEDULING_STRATEGY", "value": "1"}
    for service, arguments in services():
        head = service["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]["spec"]["containers"][0]
        assert (packing in head["env"]) == (arguments.llm is not None)  # or fractions would keep the GPUs from it
    (file,) = documents(INFRA / "serve-gpu.yaml")
    config = ServeDeploySchema(**file)
    by_hand = ServeArguments.model_validate(config.applications[0].args)
    where = {"index": "", "set": {}}
    assert by_hand.model_copy(update=where) == gpu.model_copy(update=where)
    assert by_hand.set.items() - {("serving.keys", "s3://bucket/keys.json")} == gpu.set.items()


@pytest.mark.parametrize("number", range(2))
def test_an_endpoint_outlives_a_worker_node(number: int) -> None:
    service, arguments = services()[number]
    ingress = arguments.ingress
    assert (ingress.min_replicas >= 2, ingress.max_replicas_per_node) == (True, 1)
    assert ingress.options()["max_replicas_per_node"] == 1
    group = service["spec"]["rayClusterConfig"]["workerGroupSpecs"][0]
    assert group["minReplicas"] >= ingress.min_replicas
    labels = group["template"]["metadata"]["labels"]
    by_host, by_zone = group["template"]["spec"]["topologySpreadConstraints"]
    assert (by_host["whenUnsatisfiable"], by_zone["whenUnsatisfiable"]) == ("DoNotSchedule", "ScheduleAnyway")
    component = {"app.kubernetes.io/component": labels["app.kubernetes.io/component"], "ray.io/node-type": "worker"}
    assert by_host["labelSelector"] == by_zone["labelSelector"] == {"matchLabels": component}
    budgets = [d["spec"] for _, d in resources() if d["kind"] == "PodDisruptionBudget"]
    assert {"maxUnavailable": 1, "selector": {"matchLabels": component}} in budgets
    assert service["spec"]["excludeHeadPodFromServeSvc"] is True


def test_the_state_of_a_head_can_be_kept_in_redis() -> None:
    folder = INFRA / "kubernetes" / "head-fault-tolerance"
    (component,), (patch,) = documents(folder / "kustomization.yaml"), documents(folder / "patch.yaml")
    assert component["kind"] == "Component"
    assert component["patches"][0]["target"]["kind"] == patch["kind"] == "RayService"
    stateful, service, policy = documents(folder / "redis.yaml")
    assert component["resources"] == ["redis.yaml"]
    options = patch["spec"]["rayClusterConfig"]["gcsFaultToleranceOptions"]
    name, port = options["redisAddress"].split(":")
    assert (name, int(port)) == (service["metadata"]["name"], service["spec"]["ports"][0]["port"])
    labels = stateful["spec"]["template"]["metadata"]["labels"].items()
    for selector in (service["spec"]["selector"], policy["spec"]["podSelector"]["matchLabels"]):
        assert selector.items() <= labels
    (variable,) = stateful["spec"]["template"]["spec"]["containers"][0]["env"]
    assert variable["valueFrom"] == options["redisPassword"]["valueFrom"]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl, for its kustomize")
@pytest.mark.parametrize("options", [(), ("serve.yaml",), ("serve.yaml", "serve-gpu.yaml", "head-fault-tolerance")])
def test_kustomize_builds_what_is_enabled(custom_resources: Schemas, tmp_path: Path, options: tuple[str, ...]) -> None:
    folder = tmp_path / "kubernetes"
    shutil.copytree(INFRA / "kubernetes", folder)
    text = (folder / "kustomization.yaml").read_text(encoding="utf-8")
    for name in options:
        enabled = re.sub(rf"^(?:  )?# *- {re.escape(name)}.*$", f"  - {name}", text, flags=re.MULTILINE)
        assert enabled != text, name
        text = enabled
    if "head-fault-tolerance" in options:
        text = text.replace("# components:", "components:")
    (folder / "kustomization.yaml").write_text(text, encoding="utf-8")
    built = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    rendered = parsed(built.stdout)
    services_ = [document for document in rendered if document["kind"] == "RayService"]
    assert len(services_) == len([name for name in options if name.startswith("serve")])
    for document in services_:
        schema = custom_resources[document["kind"], document["apiVersion"]]
        jsonschema.Draft7Validator(closed(schema["properties"]["spec"])).validate(document["spec"])
        kept = document["spec"]["rayClusterConfig"].get("gcsFaultToleranceOptions", {})
        assert ("redisAddress" in kept) == ("head-fault-tolerance" in options)
    for document in rendered:
        if not of_ray(document):
            kubernetes_validate.validate(document, KUBERNETES, strict=True)


@pytest.mark.parametrize(("name", "words"), commands())
def test_commands_of_finray_parse(name: str, words: list[str]) -> None:
    get_command(app).commands[words[1]].make_context(words[1], words[2:])  # type: ignore[attr-defined]


@pytest.mark.slow
def test_models_come_from_the_volume_and_not_from_a_hub() -> None:
    (volume,), (fetch,) = ([d for _, d in resources() if d["kind"] == k] for k in ("PersistentVolumeClaim", "Job"))
    claim = volume["metadata"]["name"]
    assert volume["spec"]["accessModes"] == ["ReadWriteMany"]
    (fetched,) = values(fetch, "command")
    stored = {model.model for model in models_of(settings_of_command(fetched))}
    assert "intfloat/multilingual-e5-large" in stored
    users = [
        (name, spec, container)
        for name, document in resources()
        for spec in pods(document)
        for container in spec["containers"]
        if of_ray(document) and not container["image"].endswith("-cpu")
    ]
    assert len(users) == 5  # heads and workers of the GPU index job and of the GPU service
    for name, spec, container in users:
        assert {"name": "models", "mountPath": "/models", "readOnly": True} in container["volumeMounts"], name
        mounted = {"name": "models", "persistentVolumeClaim": {"claimName": claim, "readOnly": True}}
        assert mounted in spec["volumes"], name
        environment = {variable["name"]: variable.get("value") for variable in container["env"]}
        assert environment.items() >= {"HF_HOME": "/models", "HF_HUB_OFFLINE": "1"}.items(), name
        (waiting,) = spec["initContainers"]
        assert waiting["image"] == container["image"]
        assert waiting["command"][-3:] == ["--to", "/models", "--check"], name
        assert {model.model for model in models_of(settings_of_command(waiting["command"]))} <= stored, name
    served = {m.model for _, a in services() if a.llm is not None for m in models_of(a.settings())}
    assert served == stored


def settings_of_command(words: list[str]) -> Settings:
    options = get_command(app).commands[words[1]].make_context(words[1], words[2:]).params  # type: ignore[attr-defined]
    return settings_of(options["preset"], options["set_"])


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
            for container in [*spec["containers"], *spec.get("initContainers", ())]:
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
            for container in [*spec["containers"], *spec.get("initContainers", ())]:
                mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
                if not IMAGE.match(container["image"]):
                    assert all(mount.get("readOnly") for path, mount in mounts.items() if path != "/data"), name
                    continue
                # Models are written by one job and read by others.
                if (models := mounts.pop("/models", None)) is not None:
                    assert models.get("readOnly") is True or document["kind"] == "Job", name
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
        mounts = [mount for mount in head["containers"][0]["volumeMounts"] if mount["name"] != "models"]
        assert options["volumeMounts"] == mounts


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
    for mapping in (m for _, d in resources() for m in walk(d) if "claimName" in m):
        assert ("PersistentVolumeClaim", mapping["claimName"]) in named


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
    (expression,) = by_name["clients-reach-the-endpoint"]["podSelector"]["matchExpressions"]
    assert (expression["key"], expression["operator"]) == ("app.kubernetes.io/component", "In")
    for service, _ in services():
        (component,) = {*values(service, "app.kubernetes.io/component")}
        assert component in expression["values"]
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

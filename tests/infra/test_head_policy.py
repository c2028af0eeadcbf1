"""The head's EC2 permissions for ``ray up``: they allow Ray's own calls, made on a fake EC2, and nothing further."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID as ACCOUNT
from ray.autoscaler._private.aws import node_provider, utils
from ray.autoscaler._private.aws.node_provider import AWSNodeProvider
from ray.autoscaler._private.util import prepare_config
from ray.autoscaler.tags import (
    NODE_KIND_HEAD,
    NODE_KIND_WORKER,
    TAG_RAY_CLUSTER_NAME,
    TAG_RAY_FILE_MOUNTS_CONTENTS,
    TAG_RAY_LAUNCH_CONFIG,
    TAG_RAY_NODE_KIND,
    TAG_RAY_NODE_NAME,
    TAG_RAY_NODE_STATUS,
    TAG_RAY_RUNTIME_CONFIG,
    TAG_RAY_USER_NODE_TYPE,
)

from tests.infra.ec2_requests import REGION, ROLES, Parameters, requests_of
from tests.infra.files import CLUSTER, POLICIES
from tests.infra.iam import Request, allowed

pytestmark = pytest.mark.slow
PROVIDER: Any = AWSNodeProvider  # untyped
Tags = Mapping[str, str]


@dataclass
class Head:
    """A cluster of ``ray up`` on a fake EC2: ``config`` after Ray's own bootstrap, ``policy`` with the same ids."""

    config: dict[str, Any]
    policy: dict[str, Any]
    ec2: Any
    provider: Any
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def launch(self, node_type: str, kind: str = NODE_KIND_WORKER) -> str:
        """Launch a node like ray.autoscaler._private.node_launcher; returns the instance id."""
        tags = {
            TAG_RAY_NODE_NAME: f"ray-finray-{kind}",
            TAG_RAY_NODE_KIND: kind,
            TAG_RAY_NODE_STATUS: "uninitialized",
            TAG_RAY_LAUNCH_CONFIG: "hash",
            TAG_RAY_USER_NODE_TYPE: node_type,
        }
        (name,) = self.provider.create_node(self.config["available_node_types"][node_type]["node_config"], tags, 1)
        return str(name)

    def tags(self, name: str) -> Tags:
        return {tag["Key"]: tag["Value"] for tag in self.ec2.Instance(name).tags or ()}

    def may(self, operation: str, parameters: Parameters) -> bool:
        return self.refused(operation, parameters) == []

    def refused(self, operation: str, parameters: Parameters) -> list[Request]:
        requests = requests_of(operation, parameters, self.tags)
        return [request for request in requests if not allowed(self.policy, request)]


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Head]:
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        patch.setattr(node_provider, "TAG_BATCH_DELAY", 0.0)
        for name, value in {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "DEFAULT_REGION": REGION}.items():
            patch.setenv(f"AWS_{name}", value)
        patch.delenv("AWS_ENDPOINT_URL", raising=False)
        utils.resource_cache.cache_clear()
        utils.client_cache.cache_clear()
        ec2 = boto3.resource("ec2", REGION)
        vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")
        subnets = [vpc.create_subnet(CidrBlock=f"10.1.{n}.0/24") for n in (1, 2)]
        group = ec2.create_security_group(GroupName="finray-ray", Description="the cluster", VpcId=vpc.id)
        image = next(iter(ec2.images.filter(Filters=[{"Name": "architecture", "Values": ["x86_64"]}]))).id
        for role in ("finray-ray-head", "finray-ray-worker"):
            boto3.client("iam").create_instance_profile(InstanceProfileName=role)
        ids = {"111122223333": ACCOUNT, "ami-00000000000000000": image, "sg-00000000000000000": group.id}
        ids |= {f"subnet-0000000000000000{n}": subnet.id for n, subnet in enumerate(subnets, 1)}
        config = yaml.safe_load(_with(ids, CLUSTER))
        (path,) = [path for path in POLICIES if path.stem == "ray-head"]
        resolved = PROVIDER.bootstrap_config(prepare_config(config))
        provider = PROVIDER(resolved["provider"], resolved["cluster_name"])
        cluster = Head(resolved, json.loads(_with(ids, path)), ec2, provider)

        def note(params: dict[str, Any], model: Any, **_: Any) -> None:
            cluster.calls.append((model.name, json.loads(json.dumps(params))))

        for resource in (provider.ec2, provider.ec2_fail_fast):
            resource.meta.client.meta.events.register("provide-client-params.ec2", note)
        yield cluster
    utils.resource_cache.cache_clear()
    utils.client_cache.cache_clear()


def _with(ids: Mapping[str, str], path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    for placeholder, real in ids.items():
        assert placeholder in text, f"{placeholder} is not in {path.name}"
        text = text.replace(placeholder, real)
    return text


@pytest.fixture(scope="module")
def worker(head: Head) -> str:
    return head.launch("cpu-spot")


@pytest.fixture(scope="module")
def stranger(head: Head) -> str:
    """An instance outside the cluster."""
    (instance,) = head.ec2.create_instances(ImageId=_image(head), MinCount=1, MaxCount=1, InstanceType="m7i.large")
    return str(instance.id)


def _image(head: Head) -> str:
    return str(head.config["available_node_types"]["cpu-spot"]["node_config"]["ImageId"])


@pytest.fixture
def launch(head: Head, worker: str) -> dict[str, Any]:
    """The call that started a worker."""
    return next(json.loads(json.dumps(parameters)) for name, parameters in head.calls if name == "RunInstances")


def test_ray_up_takes_the_network_it_is_given(head: Head) -> None:
    # A group that Ray makes lets in SSH from everywhere, besides what the file says.
    assert {g.group_name for g in head.ec2.security_groups.all()} == {"default", "finray-ray"}
    for node in head.config["available_node_types"].values():
        assert len(node["node_config"]["SubnetIds"]) == 2
        assert len(node["node_config"]["SecurityGroupIds"]) == 1


@pytest.mark.parametrize("node_type", ["cpu-spot", "gpu-spot"])
def test_the_head_may_do_all_that_ray_does(head: Head, node_type: str) -> None:
    head.calls.clear()
    node = head.launch(node_type)
    assert head.provider.non_terminated_nodes({TAG_RAY_NODE_KIND: NODE_KIND_WORKER})
    for status in ("waiting-for-ssh", "syncing-files", "setting-up", "update-failed", "up-to-date"):
        head.provider.set_node_tags(node, {TAG_RAY_NODE_STATUS: status})
    head.provider.set_node_tags(node, {TAG_RAY_RUNTIME_CONFIG: "a", TAG_RAY_FILE_MOUNTS_CONTENTS: "b"})
    assert head.tags(node)[TAG_RAY_NODE_STATUS] == "up-to-date"
    while_it_ran = [(name, head.refused(name, parameters)) for name, parameters in head.calls]
    head.calls.clear()
    assert head.may("TerminateInstances", {"InstanceIds": [node]})
    head.provider.terminate_node(node)
    assert {name for name, _ in while_it_ran} == {"RunInstances", "DescribeInstances", "CreateTags"}
    assert [name for name, _ in head.calls if name == "TerminateInstances"]
    assert [(name, refused) for name, refused in while_it_ran if refused] == []


@pytest.mark.parametrize(
    ("changed", "at"),
    [
        ({"ImageId": "ami-0123456789abcdef0"}, "image/ami-0123456789abcdef0"),
        ({"SubnetId": "subnet-0123456789abcdef0"}, "subnet/subnet-0123456789abcdef0"),
        ({"SecurityGroupIds": ["sg-0123456789abcdef0"]}, "security-group/sg-0123456789abcdef0"),
        ({"KeyName": "another"}, "key-pair/another"),
        ({"InstanceType": "p5.48xlarge"}, "instance/*"),
        ({"MetadataOptions": {"HttpTokens": "optional"}}, "instance/*"),
        ({"IamInstanceProfile": {"Arn": f"{ROLES}:instance-profile/admin"}}, "role/admin"),
        ({"TagSpecifications": []}, "instance/*"),
        ({"BlockDeviceMappings": [{"Ebs": {"VolumeSize": 60}}]}, "volume/*"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_no_other_instance_is_started(head: Head, launch: dict[str, Any], changed: dict[str, Any], at: str) -> None:
    assert head.may("RunInstances", launch)
    refused = head.refused("RunInstances", launch | changed)
    assert [request for request in refused if request.resource.endswith(at)]


@pytest.mark.parametrize("without", ["SubnetId", "SecurityGroupIds"])
def test_the_accounts_default_network_is_not_used(head: Head, launch: dict[str, Any], without: str) -> None:
    assert not head.may("RunInstances", {key: value for key, value in launch.items() if key != without})


@pytest.mark.parametrize(
    "tags",
    [{TAG_RAY_CLUSTER_NAME: "another", TAG_RAY_NODE_KIND: NODE_KIND_WORKER}, {TAG_RAY_CLUSTER_NAME: "finray"},
     {TAG_RAY_CLUSTER_NAME: "finray", TAG_RAY_NODE_KIND: NODE_KIND_HEAD}],
)  # fmt: skip
def test_what_is_started_is_a_worker_of_this_cluster(head: Head, launch: dict[str, Any], tags: Tags) -> None:
    specification = {"ResourceType": "instance", "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}
    assert not head.may("RunInstances", launch | {"TagSpecifications": [specification]})


def test_a_foreign_instance_cannot_be_retagged_and_terminated(head: Head, stranger: str) -> None:
    for tags in (
        {TAG_RAY_CLUSTER_NAME: "finray"},
        {TAG_RAY_CLUSTER_NAME: "finray", TAG_RAY_NODE_KIND: NODE_KIND_WORKER},
        {TAG_RAY_NODE_STATUS: "up-to-date"},
    ):
        wanted = [{"Key": key, "Value": value} for key, value in tags.items()]
        assert not head.may("CreateTags", {"Resources": [stranger], "Tags": wanted})
    assert not head.may("TerminateInstances", {"InstanceIds": [stranger]})


def test_one_foreign_instance_in_a_request_denies_it(head: Head, worker: str, stranger: str) -> None:
    assert head.may("TerminateInstances", {"InstanceIds": [worker]})
    assert not head.may("TerminateInstances", {"InstanceIds": [worker, stranger]})


def test_the_head_cannot_terminate_a_head(head: Head) -> None:
    other = head.launch("head", NODE_KIND_HEAD)  # by the operator
    assert head.tags(other)[TAG_RAY_CLUSTER_NAME] == "finray"
    assert not head.may("TerminateInstances", {"InstanceIds": [other]})
    tags = [{"Key": TAG_RAY_NODE_STATUS, "Value": "up-to-date"}]
    assert not head.may("CreateTags", {"Resources": [other], "Tags": tags})


@pytest.mark.parametrize("key", [TAG_RAY_CLUSTER_NAME, TAG_RAY_NODE_KIND, "team"])
def test_workers_keep_their_ownership_tags(head: Head, worker: str, key: str) -> None:
    status = {"Key": TAG_RAY_NODE_STATUS, "Value": "up-to-date"}
    assert head.may("CreateTags", {"Resources": [worker], "Tags": [status]})
    assert not head.may("CreateTags", {"Resources": [worker], "Tags": [status, {"Key": key, "Value": "x"}]})


@pytest.mark.parametrize(
    "request_",
    [
        Request("iam:PassRole", f"{ROLES}:role/finray-ray-worker", {"iam:PassedToService": "lambda.amazonaws.com"}),
        Request("iam:PassRole", f"{ROLES}:role/finray-ray-head", {"iam:PassedToService": "ec2.amazonaws.com"}),
        Request("ec2:ModifyInstanceAttribute", f"arn:aws:ec2:{REGION}:{ACCOUNT}:instance/i-1"),
        Request("ec2:AuthorizeSecurityGroupIngress", f"arn:aws:ec2:{REGION}:{ACCOUNT}:security-group/sg-1"),
        Request("ec2:StopInstances", f"arn:aws:ec2:{REGION}:{ACCOUNT}:instance/i-1"),
        Request("ec2:DeleteTags", f"arn:aws:ec2:{REGION}:{ACCOUNT}:instance/i-1"),
    ],
    ids=lambda request: request.action,
)
def test_no_other_action_is_allowed(head: Head, request_: Request) -> None:
    assert not allowed(head.policy, request_)

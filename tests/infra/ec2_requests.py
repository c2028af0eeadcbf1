"""What IAM is asked when EC2 is called (Service Authorization Reference, "Actions, resources, and condition keys for
Amazon EC2"; EC2 User Guide, "Grant permission to tag EC2 resources during creation")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID as ACCOUNT

from tests.infra.iam import Request

Parameters = Mapping[str, Any]
REGION = "us-east-1"
EC2 = f"arn:aws:ec2:{REGION}:{ACCOUNT}"
ROLES = f"arn:aws:iam::{ACCOUNT}"


def requests_of(operation: str, parameters: Parameters, tags: Callable[[str], Mapping[str, str]]) -> list[Request]:
    """Every one must be allowed for the call to go through. ``tags`` gives those of an instance that exists."""
    if operation == "DescribeInstances":
        return [Request("ec2:DescribeInstances", "*")]
    if operation == "RunInstances":
        return _run_instances(parameters)
    if operation == "TerminateInstances":
        return [_of_instance("ec2:TerminateInstances", name, tags(name)) for name in parameters["InstanceIds"]]
    if operation == "CreateTags":
        context = _tagging(parameters["Tags"])
        return [_of_instance("ec2:CreateTags", name, tags(name), context) for name in parameters["Resources"]]
    raise ValueError(f"a call that the head of a cluster is not known to make: {operation}")


def _run_instances(parameters: Parameters) -> list[Request]:
    action = "ec2:RunInstances"
    subnet = f"{EC2}:subnet/{parameters['SubnetId']}" if "SubnetId" in parameters else f"{EC2}:subnet/subnet-default"
    tagging = {one["ResourceType"]: _tagging(one["Tags"]) for one in parameters.get("TagSpecifications", ())}
    instance = {
        "ec2:InstanceType": parameters["InstanceType"],
        "ec2:MetadataHttpTokens": parameters.get("MetadataOptions", {}).get("HttpTokens", "optional"),
        **tagging.get("instance", {}),
    }
    requests = []
    if profile := parameters.get("IamInstanceProfile"):
        instance["ec2:InstanceProfile"] = profile["Arn"]
        role = profile["Arn"].replace(":instance-profile/", ":role/")
        requests.append(Request("iam:PassRole", role, {"iam:PassedToService": "ec2.amazonaws.com"}))
    requests += [
        Request(action, f"{EC2}:instance/*", instance),
        Request(action, f"arn:aws:ec2:{REGION}::image/{parameters['ImageId']}"),
        Request(action, subnet),
        Request(action, f"{EC2}:network-interface/*", {"ec2:Subnet": subnet}),
        *(
            Request(action, f"{EC2}:security-group/{group}")
            for group in parameters.get("SecurityGroupIds", ["default"])
        ),
    ]
    if "KeyName" in parameters:
        requests.append(Request(action, f"{EC2}:key-pair/{parameters['KeyName']}"))
    for device in parameters.get("BlockDeviceMappings", ()):
        encrypted = str(device["Ebs"].get("Encrypted", False)).lower()
        requests.append(Request(action, f"{EC2}:volume/*", {"ec2:Encrypted": encrypted}))
    for kind, context in tagging.items():
        requests.append(Request("ec2:CreateTags", f"{EC2}:{kind}/*", {**context, "ec2:CreateAction": "RunInstances"}))
    return requests


def _of_instance(
    action: str, name: str, tags: Mapping[str, str], context: Mapping[str, str | tuple[str, ...]] | None = None
) -> Request:
    present = {f"aws:ResourceTag/{key}": value for key, value in tags.items()}
    return Request(action, f"{EC2}:instance/{name}", {**present, **(context or {})})


def _tagging(tags: list[Mapping[str, str]]) -> dict[str, str | tuple[str, ...]]:
    wanted: dict[str, str | tuple[str, ...]] = {f"aws:RequestTag/{tag['Key']}": tag["Value"] for tag in tags}
    return {**wanted, "aws:TagKeys": tuple(tag["Key"] for tag in tags)}

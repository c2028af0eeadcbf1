"""`finray doctor --s3`: whether an S3 location is fit for an index."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError

from finray.core.errors import SourceError
from finray.storage.bucket import BucketCheck, check_bucket


@pytest.fixture
def client(s3_variables: dict[str, str]) -> Any:
    return boto3.client("s3")


def states(checks: list[BucketCheck]) -> dict[str, str]:
    return {check.name: check.state for check in checks}


def test_a_new_bucket_works_and_gets_advice(s3: str, client: Any) -> None:
    assert states(check_bucket(f"{s3}/some/prefix")) == {
        "region": "ok",
        "objects": "ok",
        "commits": "ok",
        "unfinished uploads": "advice",
        "versioning": "ok",
        "public access": "advice",
    }
    assert "Contents" not in client.list_objects_v2(Bucket=s3.removeprefix("s3://"))  # nothing is left behind


def test_bucket_settings_are_read(s3: str, client: Any) -> None:
    bucket = s3.removeprefix("s3://")
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    rule = {
        "ID": "1",
        "Status": "Enabled",
        "Filter": {"Prefix": ""},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 3},
    }
    client.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [rule]})
    blocked = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    client.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=dict.fromkeys(blocked, True))
    found = states(check_bucket(s3))
    assert (found["unfinished uploads"], found["versioning"], found["public access"]) == ("ok", "advice", "ok")


def test_a_store_without_conditional_puts_fails(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    send = BaseClient._make_api_call

    def ignoring(self: BaseClient, name: str, arguments: dict[str, Any]) -> Any:
        return send(self, name, {key: value for key, value in arguments.items() if key != "IfNoneMatch"})

    monkeypatch.setattr(BaseClient, "_make_api_call", ignoring)
    last = check_bucket(s3)[-1]
    assert (last.name, last.state) == ("commits", "failed")
    assert "overwrite each other's commits" in last.detail


def test_settings_that_may_not_be_read_are_unknown(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    send = BaseClient._make_api_call

    def denying(self: BaseClient, name: str, arguments: dict[str, Any]) -> Any:
        if name.startswith("GetBucket") or name == "GetPublicAccessBlock":
            raise ClientError({"Error": {"Code": "AccessDenied"}}, name)
        return send(self, name, arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", denying)
    assert [check.state for check in check_bucket(s3)] == ["ok"] * 3 + ["unknown"] * 3


def test_a_folder_is_not_a_bucket() -> None:
    with pytest.raises(SourceError, match="give s3://bucket/prefix"):
        check_bucket("folder")

"""Check that an S3 location is fit for an index, with boto3: the calls of finray, and the settings of the bucket.

Lance commits with a conditional put, so a store that ignores ``If-None-Match`` would lose commits of two jobs at once.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from finray.core.errors import SourceError
from finray.storage import s3
from finray.storage.locations import is_s3, normalize

_SECONDS = 10
_DENIED = frozenset({"AccessDenied", "AllAccessDisabled", "403"})
_UNSUPPORTED = frozenset({"NotImplemented", "MethodNotAllowed", "501", "405"})


@dataclass(frozen=True, slots=True)
class BucketCheck:
    """``failed`` prevents finray from working there, ``advice`` does not; ``unknown`` could not be found out."""

    name: str
    state: Literal["ok", "advice", "failed", "unknown"]
    detail: str


def check_bucket(uri: str) -> list[BucketCheck]:
    """The checks of ``s3://bucket/prefix``; the first that fails ends them. Leaves nothing behind in the bucket.

    Raises SourceError if ``uri`` is not an S3 location.
    """
    uri = normalize(uri)
    if not is_s3(uri):
        raise SourceError(f"{uri!r} is not on S3; give s3://bucket/prefix")
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    client = boto3.client(
        "s3",
        endpoint_url=s3.endpoint(),
        config=Config(connect_timeout=_SECONDS, read_timeout=_SECONDS, retries={"total_max_attempts": 2}),
    )
    checks: list[BucketCheck] = []
    try:
        for check in _usable(client, bucket, "/".join(filter(None, (prefix, f".finray-{secrets.token_hex(8)}")))):
            checks.append(check)
            if check.state == "failed":
                return checks
    except (BotoCoreError, ClientError) as error:
        return [*checks, BucketCheck("access", "failed", str(error))]
    return [*checks, _uploads(client, bucket), _versions(client, bucket), _public(client, bucket)]


def _usable(client: Any, bucket: str, key: str) -> Iterator[BucketCheck]:
    region = client.head_bucket(Bucket=bucket)["ResponseMetadata"]["HTTPHeaders"].get("x-amz-bucket-region")
    chosen = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region and chosen and region != chosen and not s3.endpoint():
        yield BucketCheck("region", "failed", f"the bucket is in {region}, AWS_REGION is {chosen}; set it to {region}")
    else:
        yield BucketCheck("region", "ok", region or "not reported by this store")
    try:
        client.put_object(Bucket=bucket, Key=key, Body=b"finray")
        listed = client.list_objects_v2(Bucket=bucket, Prefix=key).get("Contents", [])
        whole = client.get_object(Bucket=bucket, Key=key)["Body"].read()
        part = client.get_object(Bucket=bucket, Key=key, Range="bytes=3-5")["Body"].read()
        if [one["Key"] for one in listed] != [key] or (whole, part) != (b"finray", b"ray"):
            yield BucketCheck("objects", "failed", "an object that was written is not listed or read as written")
        else:
            yield BucketCheck("objects", "ok", "written, listed, read and deleted")
        yield _conditional_put(client, bucket, key)
    finally:
        client.delete_object(Bucket=bucket, Key=key)


def _conditional_put(client: Any, bucket: str, key: str) -> BucketCheck:
    try:
        client.put_object(Bucket=bucket, Key=key, Body=b"second", IfNoneMatch="*")
    except ClientError as error:
        if error.response["Error"]["Code"] in ("PreconditionFailed", "412"):
            return BucketCheck("commits", "ok", "a conditional put does not overwrite")
        raise
    return BucketCheck(
        "commits",
        "failed",
        "this store ignores If-None-Match, so two jobs at once could overwrite each other's commits; use another store "
        "or a newer version of it",
    )


def _uploads(client: Any, bucket: str) -> BucketCheck:
    name = "unfinished uploads"
    try:
        rules = client.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchLifecycleConfiguration":
            return _unknown(name, error)
        rules = []
    for rule in rules:
        days = rule.get("AbortIncompleteMultipartUpload", {}).get("DaysAfterInitiation")
        if days and rule.get("Status") == "Enabled":
            return BucketCheck(name, "ok", f"removed after {days} days")
    return BucketCheck(
        name,
        "advice",
        "those of killed jobs are kept and paid for; add the lifecycle rule AbortIncompleteMultipartUpload",
    )


def _versions(client: Any, bucket: str) -> BucketCheck:
    try:
        status = client.get_bucket_versioning(Bucket=bucket).get("Status", "off")
    except ClientError as error:
        return _unknown("versioning", error)
    if status == "Enabled":
        advice = "on: what `finray maintain` deletes is kept as old versions; let a lifecycle rule expire those"
        return BucketCheck("versioning", "advice", advice)
    return BucketCheck("versioning", "ok", status.lower())


def _public(client: Any, bucket: str) -> BucketCheck:
    try:
        block = client.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchPublicAccessBlockConfiguration":
            return _unknown("public access", error)
        block = {}
    if block and all(block.values()):
        return BucketCheck("public access", "ok", "blocked")
    return BucketCheck("public access", "advice", "not blocked; predictions may name what your analysts ask for")


def _unknown(name: str, error: ClientError) -> BucketCheck:
    code = error.response["Error"]["Code"]
    if code in _DENIED:
        return BucketCheck(name, "unknown", "these credentials may not read it; finray needs no such permission")
    if code in _UNSUPPORTED:
        return BucketCheck(name, "unknown", "this store has no such setting")
    return BucketCheck(name, "unknown", str(error))

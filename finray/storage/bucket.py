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
State = Literal["ok", "advice", "failed", "unknown"]
_UNKNOWN = dict.fromkeys(
    ("AccessDenied", "AllAccessDisabled", "403"), "these credentials may not read it; finray needs no such permission"
) | dict.fromkeys(("NotImplemented", "MethodNotAllowed", "501", "405"), "this store has no such setting")
"""Why a setting cannot be read, by S3's error code."""


@dataclass(frozen=True, slots=True)
class BucketCheck:
    """finray cannot work with a ``failed`` check, but can with ``advice``; ``unknown`` could not be found out."""

    name: str
    state: State
    detail: str


def check_bucket(uri: str) -> list[BucketCheck]:
    """Check ``s3://bucket/prefix``, up to the first failure. Leaves nothing behind in the bucket.

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
        for check in _access(client, bucket, "/".join(filter(None, (prefix, f".finray-{secrets.token_hex(8)}")))):
            checks.append(check)
            if check.state == "failed":
                return checks
    except (BotoCoreError, ClientError) as error:
        return [*checks, BucketCheck("access", "failed", str(error))]
    return [*checks, *_settings(client, bucket)]


def _access(client: Any, bucket: str, key: str) -> Iterator[BucketCheck]:
    """The region of the bucket, and what finray does with objects, tried on one at ``key``."""
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


def _settings(client: Any, bucket: str) -> Iterator[BucketCheck]:
    """Settings that save money or protect data; finray works without them, and without permission to read them."""
    for name, read, absent, judged in (
        ("unfinished uploads", client.get_bucket_lifecycle_configuration, "NoSuchLifecycleConfiguration", _uploads),
        ("versioning", client.get_bucket_versioning, None, _versions),
        ("public access", client.get_public_access_block, "NoSuchPublicAccessBlockConfiguration", _public),
    ):
        try:
            found = read(Bucket=bucket)
        except ClientError as error:
            if (code := error.response["Error"]["Code"]) != absent:
                yield BucketCheck(name, "unknown", _UNKNOWN.get(code, str(error)))
                continue
            found = {}
        yield BucketCheck(name, *judged(found))


def _uploads(lifecycle: Any) -> tuple[State, str]:
    for rule in lifecycle.get("Rules", []):
        days = rule.get("AbortIncompleteMultipartUpload", {}).get("DaysAfterInitiation")
        if days and rule.get("Status") == "Enabled":
            return "ok", f"removed after {days} days"
    return "advice", "those of killed jobs are kept and paid for; add the lifecycle rule AbortIncompleteMultipartUpload"


def _versions(versioning: Any) -> tuple[State, str]:
    status = versioning.get("Status", "off")
    if status == "Enabled":
        return "advice", "on: what `finray maintain` deletes is kept as old versions; let a lifecycle rule expire those"
    return "ok", status.lower()


def _public(access: Any) -> tuple[State, str]:
    block = access.get("PublicAccessBlockConfiguration")
    if block and all(block.values()):
        return "ok", "blocked"
    return "advice", "not blocked; predictions may name what your analysts ask for"

"""Create finray's bucket on S3, in any region, with the settings that docs/operations.md describes.

    python tools/create_bucket.py NAME --region eu-central-1

Blocks public access, and deletes what interrupted uploads leave. Can be repeated: a bucket that this account already
has in that region gets the same settings.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

_FIRST_REGION = "us-east-1"
"""S3 refuses its name as a LocationConstraint, and requires one everywhere else."""
_INTERRUPTED = {
    "ID": "parts",
    "Status": "Enabled",
    "Filter": {},
    "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 2},
}
_CLOSED = {"BlockPublicAcls": True, "IgnorePublicAcls": True, "BlockPublicPolicy": True, "RestrictPublicBuckets": True}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--region", required=True, help="The region of the cluster: traffic between regions costs.")
    given = parser.parse_args(arguments)
    try:
        create_bucket(given.name, given.region)
    except (BotoCoreError, ClientError, ValueError) as error:
        sys.stderr.write(f"error: bucket {given.name!r} in {given.region!r}: {error}\n")
        return 2
    sys.stdout.write(f"ready: s3://{given.name} in {given.region}\n")
    return 0


def create_bucket(name: str, region: str) -> None:
    """Raises ClientError if S3 refuses, ValueError if it exists in another region."""
    s3 = boto3.client("s3", region_name=region)
    place: dict[str, Any] = {}
    if region != _FIRST_REGION:
        place = {"CreateBucketConfiguration": {"LocationConstraint": region}}
    try:
        s3.create_bucket(Bucket=name, **place)
    except ClientError as error:
        if error.response["Error"]["Code"] != "BucketAlreadyOwnedByYou":  # which us-east-1 does not report
            raise
    if (found := _region(s3, name)) != region:
        raise ValueError(f"this account has a bucket of that name in {found}; use it there, or choose another name")
    s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration=_CLOSED)
    s3.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [_INTERRUPTED]})


def _region(s3: Any, name: str) -> str:
    return str(s3.get_bucket_location(Bucket=name).get("LocationConstraint") or _FIRST_REGION)


if __name__ == "__main__":
    sys.exit(main())

"""tools/create_bucket.py on a fake S3, which takes a location constraint only where S3 does."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from tools.create_bucket import main


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield


@pytest.mark.parametrize("region", ["us-east-1", "us-west-2", "eu-central-1"])
def test_a_bucket_in_any_region_closed_and_cleaned_up(region: str, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["filings-of-acme", "--region", region]) == 0
        assert capsys.readouterr().out == f"ready: s3://filings-of-acme in {region}\n"
    s3 = boto3.client("s3", region_name=region)
    found = s3.get_bucket_location(Bucket="filings-of-acme")["LocationConstraint"]
    assert found == (None if region == "us-east-1" else region)
    assert all(s3.get_public_access_block(Bucket="filings-of-acme")["PublicAccessBlockConfiguration"].values())
    (rule,) = s3.get_bucket_lifecycle_configuration(Bucket="filings-of-acme")["Rules"]
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 2}


def test_the_plain_call_is_what_fails_elsewhere() -> None:
    with pytest.raises(ClientError, match="IllegalLocationConstraint"):
        boto3.client("s3", region_name="eu-central-1").create_bucket(Bucket="filings-of-acme")


def test_a_bucket_of_another_region_or_without_a_right_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["filings-of-acme", "--region", "eu-central-1"]) == 0
    assert main(["filings-of-acme", "--region", "us-west-2"]) == 2
    assert "in eu-central-1" in capsys.readouterr().err
    assert main(["not/a/name", "--region", "us-west-2"]) == 2
    assert capsys.readouterr().err.startswith("error: bucket 'not/a/name' in 'us-west-2'")

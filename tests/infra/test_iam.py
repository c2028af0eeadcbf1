"""The policy evaluator on the examples of AWS's documentation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.iam import Request, allowed


def policy(**condition: Any) -> dict[str, Any]:
    return {"Statement": [{"Effect": "Allow", "Action": "ec2:CreateTags", "Resource": "arn:*", "Condition": condition}]}


@pytest.mark.parametrize(
    ("condition", "context", "expected"),
    [
        ({"StringEquals": {"a": ["x", "y"]}}, {"a": "y"}, True),
        ({"StringEquals": {"a": "x"}}, {"a": "X"}, False),
        ({"StringEquals": {"a": "x"}}, {}, False),
        ({"StringEquals": {"a": "x", "b": "y"}}, {"a": "x"}, False),
        ({"StringEqualsIfExists": {"a": "x"}}, {}, True),
        ({"StringLike": {"a": "raw/*"}}, {"a": "raw/1/2"}, True),
        ({"StringLike": {"a": "raw/?"}}, {"a": "raw/[1]"}, False),
        ({"ForAllValues:StringEquals": {"a": ["x", "y"]}}, {"a": ("x", "y")}, True),
        ({"ForAllValues:StringEquals": {"a": ["x", "y"]}}, {"a": ("x", "z")}, False),
        ({"ForAllValues:StringEquals": {"a": ["x"]}}, {}, True),
        ({"ForAllValues:StringEquals": {"a": ["x"]}, "Null": {"a": "false"}}, {}, False),
        ({"Bool": {"a": "true"}}, {"a": "True"}, True),
        ({"BoolIfExists": {"a": "false"}}, {"a": "true"}, False),
    ],
)
def test_conditions(condition: dict[str, Any], context: dict[str, Any], expected: bool) -> None:
    assert allowed(policy(**condition), Request("ec2:createtags", "arn:1", context)) is expected


def test_unsupported_policy_features_raise_an_error() -> None:
    request = Request("ec2:CreateTags", "arn:1", {"a": "1"})
    for unknown in (policy(NumericLessThan={"a": "2"}), {"Statement": [{"Effect": "Deny", "Action": "*"}]}):
        with pytest.raises(ValueError, match="this evaluator"):
            allowed(unknown, request)

"""`finray doctor`: it says what is there, shows no secret, and is content with any machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Doctor = Callable[..., str]


@pytest.fixture
def doctor(finray: Callable[..., Any]) -> Doctor:
    def run(*options: str) -> str:
        result = finray("doctor", *options)
        assert result.code == 0
        return str(result.out)

    return run


def test_it_names_the_layers_of_the_sandbox_and_tries_them(doctor: Doctor) -> None:
    text = doctor("--set", "sandbox.isolation=process")
    for part in ("python", "minilm", "language:", "process:", "possible were: "):
        assert part in text


def test_it_tries_to_break_out_of_what_confines_parsers(doctor: Doctor) -> None:
    facts = json.loads(doctor("--json"))
    assert facts["parsers"]["layers"][0] == "process"
    if {"landlock", "seccomp"} <= set(facts["parsers"]["layers"]):
        assert facts["parsers"]["escapes"] == []


def test_it_names_models_that_are_not_pinned(doctor: Doctor) -> None:
    assert "not pinned to a commit: encoder intfloat/multilingual-e5-large@main" in doctor("--preset", "paper")
    assert json.loads(doctor("--json"))["models"]["unpinned"] == {}


def test_a_machine_reads_the_same(doctor: Doctor) -> None:
    facts = json.loads(doctor("--set", "sandbox.isolation=process", "--json"))
    assert facts["sandbox"]["layers"][:2] == ["language", "process"]
    assert facts["machine"]["processors"] >= 1
    assert "torch" in facts["packages"]


def test_secrets_are_set_or_not_and_never_shown(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINRAY_LLM_API_KEY", "sk-very-secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:very-secret@s3.example")
    text = doctor()
    assert "AWS_ENDPOINT_URL set" in text
    assert "$FINRAY_LLM_API_KEY set" in text
    assert "secret" not in text


def test_a_sandbox_that_cannot_work_is_said_not_raised(doctor: Doctor) -> None:
    assert "sandbox.wasi_runtime" in doctor(
        "--set", "sandbox.isolation=wasi", "--set", "sandbox.wasi_runtime=no-such-command"
    )


def test_the_command_reports_a_missing_bucket(s3_variables: dict[str, str], finray: Callable[..., Any]) -> None:
    result = finray("doctor", "--set", "sandbox.isolation=process", "--s3", "s3://no-such-bucket/index", "--json")
    assert result.code == 1
    (check,) = json.loads(result.out)["bucket"]
    assert (check["name"], check["state"]) == ("access", "failed")

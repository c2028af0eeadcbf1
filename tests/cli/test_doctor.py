"""`finray doctor` shows what is available, hides secrets, and works on any machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from finray.models.devices import multiplies_int8

Doctor = Callable[..., str]


@pytest.fixture
def doctor(finray: Callable[..., Any]) -> Doctor:
    def run(*options: str) -> str:
        result = finray("doctor", *options)
        assert result.code == 0
        return str(result.out)

    return run


def test_doctor_lists_and_probes_the_layers_of_the_sandbox(doctor: Doctor) -> None:
    text = doctor("--set", "sandbox.isolation=process")
    for part in ("python", "minilm", "language:", "process:", "possible were: "):
        assert part in text


def test_doctor_probes_the_confinement_of_parsers(doctor: Doctor) -> None:
    facts = json.loads(doctor("--json"))
    assert facts["parsers"]["layers"][0] == "process"
    if {"landlock", "seccomp"} <= set(facts["parsers"]["layers"]):
        assert facts["parsers"]["escapes"] == []


def test_doctor_lists_unpinned_models(doctor: Doctor) -> None:
    assert "not pinned to a commit: encoder intfloat/multilingual-e5-large@main" in doctor("--preset", "hirec")
    assert json.loads(doctor("--json"))["models"]["unpinned"] == {}


def test_a_machine_reads_the_same(doctor: Doctor) -> None:
    facts = json.loads(doctor("--set", "sandbox.isolation=process", "--json"))
    assert facts["sandbox"]["layers"][:2] == ["language", "process"]
    assert facts["machine"]["processors"] >= 1
    assert {"onnxruntime", "torch"} <= facts["packages"].keys()


def test_what_computes_the_small_models_is_named(doctor: Doctor) -> None:
    computed = "int8" if multiplies_int8() else "float32"
    assert f"the models that read rows and sentences compute in {computed}" in " ".join(doctor().split())


def test_secrets_are_not_shown(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINRAY_LLM_API_KEY", "sk-very-secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:very-secret@s3.example")
    text = doctor()
    assert "AWS_ENDPOINT_URL set" in text
    assert "$FINRAY_LLM_API_KEY set" in text
    assert "secret" not in text


def test_a_broken_sandbox_is_reported_without_an_exception(doctor: Doctor) -> None:
    assert "sandbox.wasi_runtime" in doctor(
        "--set", "sandbox.isolation=wasi", "--set", "sandbox.wasi_runtime=no-such-command"
    )


def test_the_command_reports_a_missing_bucket(s3_variables: dict[str, str], finray: Callable[..., Any]) -> None:
    result = finray("doctor", "--set", "sandbox.isolation=process", "--s3", "s3://no-such-bucket/index", "--json")
    assert result.code == 1
    (check,) = json.loads(result.out)["bucket"]
    assert (check["name"], check["state"]) == ("access", "failed")

"""`finray doctor`: it says what is there, shows no secret, and is content with any machine."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from finray.cli.commands.doctor import run_doctor
from finray.core.settings import Settings, load_settings


def doctor(settings: Settings, *, as_json: bool = False) -> str:
    out = io.StringIO()
    assert run_doctor(settings, as_json=as_json, out=Console(file=out, width=200)) == 0
    return out.getvalue()


def test_it_names_the_layers_of_the_sandbox_and_tries_them() -> None:
    text = doctor(load_settings(overrides={"sandbox.isolation": "process"}))
    for part in ("python", "minilm", "language:", "process:", "possible were: "):
        assert part in text


def test_it_tries_to_break_out_of_what_confines_parsers() -> None:
    facts = json.loads(doctor(load_settings(), as_json=True))
    assert facts["parsers"]["layers"][0] == "process"
    if {"landlock", "seccomp"} <= set(facts["parsers"]["layers"]):
        assert facts["parsers"]["escapes"] == []


def test_it_names_models_that_are_not_pinned() -> None:
    assert "not pinned to a commit: encoder intfloat/multilingual-e5-large@main" in doctor(load_settings("paper"))
    assert json.loads(doctor(load_settings(), as_json=True))["models"]["unpinned"] == {}


def test_a_machine_reads_the_same() -> None:
    facts = json.loads(doctor(load_settings(overrides={"sandbox.isolation": "process"}), as_json=True))
    assert facts["sandbox"]["layers"][:2] == ["language", "process"]
    assert facts["machine"]["processors"] >= 1
    assert "torch" in facts["packages"]


def test_secrets_are_set_or_not_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINRAY_LLM_API_KEY", "sk-very-secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:very-secret@s3.example")
    text = doctor(load_settings())
    assert "AWS_ENDPOINT_URL set" in text
    assert "$FINRAY_LLM_API_KEY set" in text
    assert "secret" not in text


def test_a_sandbox_that_cannot_work_is_said_not_raised() -> None:
    assert "sandbox.wasi_runtime" in doctor(
        load_settings(overrides={"sandbox.isolation": "wasi", "sandbox.wasi_runtime": "no-such-command"})
    )

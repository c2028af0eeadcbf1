"""Hostile programs through the whole sandbox: one clear error each, in bounded time, and nothing escapes."""

from __future__ import annotations

import time

import psutil
import pytest

from finray.core.errors import SandboxError
from finray.core.settings import SandboxSettings
from finray.sandbox.runner import Sandbox
from tests.sandbox.hostile import BROKEN, REFUSED, TOO_MUCH


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return Sandbox(SandboxSettings(isolation="process"))


def refusal(sandbox: Sandbox, source: str) -> SandboxError:
    with pytest.raises(SandboxError) as caught:
        sandbox.run(source)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return caught.value


@pytest.mark.slow
@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_programs_outside_the_language_are_refused(sandbox: Sandbox, source: str) -> None:
    assert refusal(sandbox, source).reason in ("refused", "syntax")


@pytest.mark.parametrize("source", TOO_MUCH.values(), ids=TOO_MUCH)
def test_programs_over_a_limit_are_stopped(sandbox: Sandbox, source: str) -> None:
    started = time.monotonic()
    error = refusal(sandbox, source)
    assert error.reason in ("limit", "failed", "syntax", "refused", "timeout")
    assert time.monotonic() - started < 30.0  # no measurement: a program that hangs would not end


@pytest.mark.slow
@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_a_failure_names_its_reason(sandbox: Sandbox, source: str) -> None:
    assert refusal(sandbox, source).reason in ("failed", "syntax")


@pytest.mark.parametrize(
    "source", [REFUSED["fullwidth eval"], REFUSED["import"], BROKEN["null byte"], BROKEN["warnings"]]
)
def test_some_of_these_without_slow(sandbox: Sandbox, source: str) -> None:
    """``test_interpreter`` runs them all, without the process."""
    assert refusal(sandbox, source).reason in ("failed", "syntax", "refused")


def test_no_process_is_left_behind(sandbox: Sandbox) -> None:
    before = psutil.Process().children(recursive=True)  # other tests may keep some of their own
    for source in ("answer = 1", "import os", "x = 9 ** 9 ** 9", "1 / 0"):
        try:
            sandbox.run(source)
        except SandboxError:
            continue
    assert set(psutil.Process().children(recursive=True)) <= set(before)

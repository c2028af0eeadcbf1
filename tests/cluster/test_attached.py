"""Whether there is a Ray cluster to use, without importing Ray."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from finray.cluster.attached import has_cluster, is_attached


def test_a_named_cluster_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:6379")
    assert has_cluster()
    assert is_attached()
    monkeypatch.setenv("RAY_ADDRESS", "")
    assert not has_cluster()


def test_is_attached_does_not_import_ray() -> None:
    code = "import sys; from finray.cluster.attached import is_attached; print(is_attached(), 'ray' in sys.modules)"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"RAY_ADDRESS": ""})
    assert ended.stdout == "False False\n"

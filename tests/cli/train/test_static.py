"""``finray train static-encoder``: arguments that cannot work."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from finray.cli import app
from finray.core.errors import UsageError


@pytest.mark.parametrize(
    ("out", "reason"),
    [("vectors.bin", r"does not end in \.npz"), ("vectors.npz", r"cannot read the vocabulary .*vocab")],
)
def test_what_cannot_be_distilled_is_named(out: str, reason: str, tmp_path: Path) -> None:
    arguments = ["--index", str(tmp_path / "index"), "--base", str(tmp_path), "--out", str(tmp_path / out)]
    with pytest.raises(UsageError, match=reason):
        CliRunner().invoke(app, ["train", "static-encoder", *arguments], catch_exceptions=False)
    assert not (tmp_path / out).exists()

"""``finray keys`` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from finray.api.keys import KeyRing
from finray.cli import app
from finray.core.errors import UsageError


def test_keys_are_added_listed_and_revoked(tmp_path: Path) -> None:
    file = str(tmp_path / "keys.json")
    run = CliRunner().invoke
    added = run(app, ["keys", "add", "ana", "--keys", file])
    assert added.exit_code == 0
    text = added.stdout.strip()
    assert KeyRing(file, 0.0).check(text) is not None
    listed = run(app, ["keys", "list", "--keys", file]).stdout
    assert "ana" in listed
    assert text not in listed
    assert run(app, ["keys", "revoke", "ana", "--keys", file]).exit_code == 0
    assert KeyRing(file, 0.0).check(text) is None


def test_a_taken_name_is_an_error(tmp_path: Path) -> None:
    file = str(tmp_path / "keys.json")
    CliRunner().invoke(app, ["keys", "add", "ana", "--keys", file])
    result = CliRunner().invoke(app, ["keys", "add", "ana", "--keys", file])
    assert isinstance(result.exception, UsageError)
    with pytest.raises(UsageError, match="cannot name a key"):
        raise CliRunner().invoke(app, ["keys", "add", "a b", "--keys", file]).exception or AssertionError

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from finray.cli import app
from finray.core.errors import FinrayError


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--no-auth"], "--no-auth is about --http"),
        (["--http", "--no-auth", "--host", "0.0.0.0"], "requires a loopback --host"),
        (["--service", "ftp://there"], "is no URL of a service"),
        ([], "no index at"),
    ],
)
def test_what_cannot_be_served_is_refused(options: list[str], problem: str, tmp_path: object) -> None:
    ran = CliRunner().invoke(app, ["mcp", "--index", f"{tmp_path}/none", *options])
    assert isinstance(ran.exception, FinrayError)
    assert problem in str(ran.exception)

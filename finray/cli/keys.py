"""``finray keys``: who may call the HTTP service."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from finray.cli.output import out

app = typer.Typer(no_args_is_help=True, help="API keys of the HTTP service: add, list, revoke.")

KeysOption = Annotated[
    str, typer.Option("--keys", help="File of keys, local or s3://; the setting serving.keys by default.")
]


@app.command()
def add(name: Annotated[str, typer.Argument(help="Whose key it is.")], keys: KeysOption = "") -> None:
    """Make a key and print it. It is shown this once: only its hash is stored."""
    from finray.api.keys import add_key

    typer.echo(add_key(_location(keys), name))


@app.command("list")
def list_(keys: KeysOption = "") -> None:
    """List the keys by name; a running service honors changes within seconds."""
    from finray.api.keys import read_keys

    table = Table("name", "id", "added", "revoked", box=None)
    for key in read_keys(_location(keys)):
        table.add_row(key.name, key.key_id, key.created_at, key.revoked_at or "")
    out.print(table)


@app.command()
def revoke(name: Annotated[str, typer.Argument(help="Whose key.")], keys: KeysOption = "") -> None:
    """Make a key worthless."""
    from finray.api.keys import revoke_key

    revoke_key(_location(keys), name)


def _location(keys: str) -> str:
    from finray.api.keys import keys_location
    from finray.core.settings import load_settings

    return keys_location(keys or load_settings().serving.keys)

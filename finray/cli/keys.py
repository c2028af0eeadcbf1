"""``finray keys``: manages API keys of the HTTP service."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from finray.cli.output import out

app = typer.Typer(no_args_is_help=True, help="API keys of the HTTP service: add, list, revoke.")

KeysOption = Annotated[
    str, typer.Option("--keys", help="File of keys, local or s3://; default: the setting serving.keys.")
]


@app.command()
def add(name: Annotated[str, typer.Argument(help="Name of the key's owner.")], keys: KeysOption = "") -> None:
    """Create a key and print it. It is shown only once: the file stores its hash."""
    from finray.api.keys import add_key

    typer.echo(add_key(_location(keys), name))


@app.command("list")
def list_(keys: KeysOption = "") -> None:
    """List the keys by name. A running service applies changes within seconds."""
    from finray.api.keys import read_keys

    table = Table("name", "id", "added", "revoked", box=None)
    for key in read_keys(_location(keys)):
        table.add_row(key.name, key.key_id, key.created_at, key.revoked_at or "")
    out.print(table)


@app.command()
def revoke(name: Annotated[str, typer.Argument(help="Name of the key's owner.")], keys: KeysOption = "") -> None:
    """Revoke a key."""
    from finray.api.keys import revoke_key

    revoke_key(_location(keys), name)


def _location(keys: str) -> str:
    from finray.api.keys import keys_location
    from finray.core.settings import load_settings

    return keys_location(keys or load_settings().serving.keys)

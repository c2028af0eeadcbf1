"""``finray fetch-models``: downloads the hub models of the settings into a cache."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err


def fetch_models(
    preset: PresetOption = "local",
    set_: SetOption = None,
    to: Annotated[
        str | None, typer.Option("--to", help="Home of the cache; others use it with HF_HOME. Default: yours.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Download nothing; fail if a model is not there.")] = False,
    json_: JsonOption = False,
) -> int:
    """Download the models that these settings take from a hub, once, so that no job and no pod has to."""
    from finray.models import fetch

    settings = settings_of(preset, set_)

    def report(model: fetch.HubModel) -> None:
        err.print(f"{'checking' if check else 'fetching'} {model}", markup=False, highlight=False)

    found = list(fetch.fetch_models(settings, to, download=not check, report=report))
    lines = [
        f"{', '.join(model.roles)}: {model.model} at {model.commit}, {model.bytes / 2**20:,.0f} MiB in {model.folder}"
        for model in found
    ]
    home = f"HF_HOME={to} " if to is not None else ""
    after = f"set {home}HF_HUB_OFFLINE=1 for processes that shall use only this cache"
    text = "\n".join([*lines, after]) if lines else "no model of these settings comes from a hub"
    emit({"models": [asdict(model) for model in found]}, text, as_json=json_)
    return 0

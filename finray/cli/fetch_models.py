"""``finray fetch-models``: downloads the hub models of the settings into a cache."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, exit_code, remark
from finray.core.errors import ModelUnavailableError


def fetch_models(
    of: Annotated[str | None, typer.Argument(metavar="[PRESET]", help="As --preset.")] = None,
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

    found: list[fetch.CachedModel] = []
    failed: list[ModelUnavailableError] = []
    for model in fetch.models_of(settings_of(of or preset, set_)):
        remark(f"{'checking' if check else 'fetching'} {model}")
        try:
            found.append(fetch.fetch_model(model, to, download=not check))
        except ModelUnavailableError as error:
            failed.append(error)
    if failed and not found:
        raise ModelUnavailableError("; ".join(map(str, failed)))
    lines = [
        f"{', '.join(model.roles)}: {model.model} at {model.commit}, {model.bytes / 2**20:,.0f} MiB in {model.folder}"
        for model in found
    ]
    lines += [f"failed: {error}" for error in failed]
    home = f"HF_HOME={to} " if to is not None else ""
    after = f"set {home}HF_HUB_OFFLINE=1 for processes that must use only this cache"
    text = "\n".join([*lines, after]) if lines else "no model of these settings comes from a hub"
    record = {"models": [asdict(model) for model in found], "failed": [str(error) for error in failed]}
    emit(record, text, as_json=json_)
    return exit_code(len(failed), len(found))

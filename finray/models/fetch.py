"""Downloads the hub models of the settings into a cache, once for all processes and machines that share it.

Otherwise every process that finds the cache empty downloads gigabytes, and a starting cluster does so in every pod.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from finray.core.errors import ModelUnavailableError
from finray.core.settings import PlanWriterSettings, Settings, is_hub_name
from finray.models.hub import SAFETENSORS_HINT
from finray.models.plan_writer import fetch_gguf

_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
"""What finray loads: configuration, weights, tokenizers."""
_NOT = ["onnx/*", "openvino/*", "original/*"]
_INDEX = "model.safetensors.index.json"
"""Lists the files of weights that come in several."""


@dataclass(frozen=True, slots=True)
class HubModel:
    """``roles`` are the sections of the settings that name it."""

    roles: tuple[str, ...]
    model: str
    revision: str

    def __str__(self) -> str:
        return f"{self.model}@{self.revision}" if self.revision else self.model


@dataclass(frozen=True, slots=True)
class HubFile(HubModel):
    """A model of which one file is used, with its SHA-256."""

    settings: PlanWriterSettings


@dataclass(frozen=True, slots=True)
class CachedModel(HubModel):
    """A complete model. ``folder`` is its snapshot in the cache, ``bytes`` the size of its files."""

    commit: str
    folder: str
    bytes: int


def models_of(settings: Settings) -> list[HubModel]:
    """The hub models that processes with these settings load, each once."""
    roles: dict[tuple[str, str], list[str]] = {}
    for role, section in settings.hub_models().items():
        roles.setdefault((section.model, section.revision), []).append(role)
    found = [HubModel(tuple(names), model, revision) for (model, revision), names in roles.items()]
    plans = settings.plan_writer
    if plans.backend == "llama_cpp" and is_hub_name(plans.model) and not Path(plans.model).exists():
        found.append(HubFile(("plan_writer",), plans.model, plans.revision, plans))
    return found


def fetch_model(wanted: HubModel, home: str | None = None, *, download: bool = True) -> CachedModel:
    """Download a model into the cache, except for files that are there already.

    ``home`` is the cache's home, the later ``HF_HOME`` (default: that of this process). Without ``download`` the model
    is only checked.
    Raises ModelUnavailableError if it cannot be downloaded, is incomplete or has no weights as safetensors.
    """
    if isinstance(wanted, HubFile):
        file = fetch_gguf(wanted.settings, home, download=download)
        folder = file.parent
        return CachedModel(wanted.roles, wanted.model, wanted.revision, folder.name, str(folder), file.stat().st_size)
    folder = _snapshot(wanted, home, download=download)
    _check(wanted, folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return CachedModel(wanted.roles, wanted.model, wanted.revision, folder.name, str(folder), size)


def _snapshot(wanted: HubModel, home: str | None, *, download: bool) -> Path:
    from huggingface_hub import snapshot_download

    try:
        found = snapshot_download(
            wanted.model,
            revision=wanted.revision or None,
            cache_dir=None if home is None else Path(home) / "hub",
            allow_patterns=_FILES,
            ignore_patterns=_NOT,
            local_files_only=not download,
        )
    except (OSError, ValueError) as error:
        if not download:
            raise ModelUnavailableError(f"{_named(wanted)} is not in the cache; run finray fetch-models") from error
        raise ModelUnavailableError(
            f"cannot download {_named(wanted)}: {str(error).splitlines()[0]}. Run this command where the hub can be "
            "reached, and share or copy the folder; HF_TOKEN gives access to a model with conditions"
        ) from error
    return Path(found)


def _check(wanted: HubModel, folder: Path) -> None:
    names = ["config.json"]
    index = folder / _INDEX
    if index.is_file():
        names += sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    elif not any(folder.glob("*.safetensors")):
        raise ModelUnavailableError(f"{_named(wanted)} has no such weights: {SAFETENSORS_HINT}")
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise ModelUnavailableError(f"{_named(wanted)} lacks {', '.join(missing)}; run finray fetch-models again")


def _named(wanted: HubModel) -> str:
    return f"the model {str(wanted)!r} ({', '.join(f'{role}.model' for role in wanted.roles)})"

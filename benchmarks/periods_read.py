"""How the periods of questions are read: all right, none found, or wrong ones, with 95% intervals."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from finray.core.bootstrap import estimate
from finray.lab.evaluation.report import shown
from finray.question.periods.relative_periods import with_counted
from finray.question.periods.written_out import written_out


def outcomes(path: Path) -> Iterator[str]:
    """ "right", "none" or "wrong" for each question of ``path``."""
    for line in path.read_text("utf-8").splitlines():
        asked = json.loads(line)
        found = {str(period) for period in with_counted(written_out(asked["question"]))}
        yield "right" if found == set(asked["periods"]) else "wrong" if found else "none"


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        found = list(outcomes(path))
        for name in ("right", "none", "wrong"):
            print(f"{path.stem} {name}: {shown(estimate([float(each == name) for each in found]))}")


if __name__ == "__main__":
    main()

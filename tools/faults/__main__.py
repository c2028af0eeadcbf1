"""Inject random faults into finray many times, on a small world, and check that the end state is always the same.

    python -m tools.faults --cycles 300 --seed 7 --json faults.jsonl

Each cycle starts from nothing or from a finished world, changes EDGAR's filings, disturbs up to three operations, runs
them again undisturbed, and compares every row, file, ledger entry and prediction with an undisturbed run. With --json,
an interrupted run resumes; --cycle-seed repeats one cycle.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tools.faults.plan import KINDS

_SHOWN = 12


def main() -> int:
    options = _options()
    from tools.faults.campaign import Result, run_campaign, table

    seeds = list(options.cycle_seed or _seeds(options.seed, options.cycles))
    number = 0

    def report(result: Result) -> None:
        nonlocal number
        number += 1
        end = "BROKEN" if result.broken else "survived"
        _print(f"{number}/{len(seeds)} seed {result.seed} {end} in {result.seconds:.1f} s: {result.plan}")
        _print(f"    {'; '.join(result.said)}")
        for line in result.broken[:_SHOWN]:
            _print(f"    ! {line}")
        if len(result.broken) > _SHOWN:
            _print(f"    ! and {len(result.broken) - _SHOWN} more")

    results = run_campaign(
        options.folder or Path(tempfile.gettempdir()) / "finray-faults",
        seeds=seeds,
        only=options.only or KINDS,
        kept=options.json,
        keep_going=options.keep_going,
        report=report,
    )
    broken = [result.seed for result in results if result.broken]
    _print("\n".join(["", *table(results), ""]))
    _print(f"{len(results)} cycles, {len(results) - len(broken)} survived, {len(broken)} did not: {broken}")
    return 1 if broken else 0


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _seeds(seed: int, cycles: int) -> list[int]:
    return random.Random(seed).sample(range(1_000_000), cycles)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cycles", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="seed of the whole run")
    parser.add_argument(
        "--cycle-seed", type=int, action="append", help="run only the cycle of this seed; may be repeated"
    )
    parser.add_argument("--only", nargs="+", choices=KINDS, help="kinds of faults")
    parser.add_argument("--json", type=Path, help="file of results, one line per cycle; resumes")
    parser.add_argument("--folder", type=Path, help="working folder; emptied at the start")
    parser.add_argument("--keep-going", action="store_true", help="continue after a cycle that did not survive")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

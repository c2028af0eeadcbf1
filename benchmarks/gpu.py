"""What one GPU does for finray, in less than ten minutes, without a network and without published weights.

    python benchmarks/gpu.py [--json FILE] [--work FOLDER] [--tiny]

Makes models of the shapes of multilingual-e5-large and DeBERTa-v3-large with random weights (speed depends on shapes),
generates filings, and measures one after another: parsing, tokenizing and forward passes at several token budgets,
reranking, the index job with 1, 2 and 4 embedding actors on the GPU, and vLLM with a small model if it is installed.
Names the stage that limits the index job. Each part is a process of its own, and is stopped if it takes too long; what
was measured until then is printed. ``--tiny`` measures nothing of interest, anywhere, in a minute or two: it shows that
the benchmark runs.

Prints Markdown, and with ``--json`` writes what is measured so far after each part.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Report = Callable[[Record], None]
HERE = Path(__file__).resolve().parent
_LOGGED = 400


def run_part(name: str, folder: Path, *, tiny: bool, seconds: float) -> list[Record]:
    """Its records; one with the problem if it fails or takes longer."""
    result, log = folder / f"{name}.json", folder / f"{name}.log"
    command = [sys.executable, str(HERE / "gpu.py"), "--work", str(folder), "--part", name]
    path = os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "1"}
    with log.open("wb") as out:
        child = subprocess.Popen(
            [*command, *(["--tiny"] if tiny else [])], env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            return [{"stage": name, "of": f"stopped after {seconds:.0f} s"}]
    if status or not result.exists():
        end = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-_LOGGED:]
        return [{"stage": name, "of": f"failed with exit status {status}: {end}"}]
    records: list[Record] = json.loads(result.read_text(encoding="utf-8"))
    return records


def binding(records: Sequence[Record], cpus: int) -> list[str]:
    """Sentences on the stage with the least capacity in chunks a second, and the index job beside it."""
    capacity: dict[str, float] = {}
    for record in records:
        if record["stage"] == "parse":
            capacity[f"parsing on {cpus} processors"] = record["chunks_per_s"] * cpus
        if record["stage"] == "forward" and "chunks_per_s" in record:
            for name, column in (("forward passes", "chunks_per_s"), ("tokenizing", "tokenize_chunks_per_s")):
                capacity[name] = max(record[column], capacity.get(name, 0.0))
    if len(capacity) < 3:
        return ["Too little was measured to name the stage that binds."]
    said = [f"Capacity, chunks a second: {', '.join(f'{name} {rate:,.0f}' for name, rate in capacity.items())}."]
    least = min(capacity, key=lambda name: capacity[name])
    said.append(f"The stage that binds: **{least}**.")
    runs = [record for record in records if record["stage"] == "pipeline" and "chunks_per_s" in record]
    if runs:
        best = max(runs, key=lambda record: float(record["chunks_per_s"]))
        share = best["chunks_per_s"] / capacity[least]
        said.append(
            f"The index job reaches {best['chunks_per_s']:,.0f} ({best['of']}), {share:.0%} of what that stage allows."
        )
    return said


def table(records: Sequence[Record]) -> str:
    """Markdown."""
    lines = ["| stage | of | measured |", "|---|---|---|"]
    for record in records:
        values = [f"{name} {_shown(value)}" for name, value in record.items() if name not in ("stage", "of")]
        lines.append(f"| {record['stage']} | {record['of']} | {', '.join(values)} |")
    return "\n".join(lines)


def _shown(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def measure(folder: Path, *, tiny: bool, report: Report) -> None:
    """All parts, in processes of their own, so that none keeps the GPU's memory. ``report`` gets what is measured so
    far after each."""
    from gpu_parts import PARTS, machine

    started, records = time.perf_counter(), list[Record]()
    about = machine()
    for name, (_, limit) in PARTS.items():
        print(f"{name} ...", file=sys.stderr, flush=True)
        records += run_part(name, folder, tiny=tiny, seconds=limit)
        seconds = time.perf_counter() - started
        report({"machine": about, "seconds": seconds, "records": records, "binding": binding(records, about["cpus"])})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder for models, filings and indexes; a temporary one by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured to FILE")
    parser.add_argument("--tiny", action="store_true", help="tiny models, for a test of this benchmark on any machine")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        from gpu_parts import FULL, PARTS, SMALLEST

        records = PARTS[arguments.part][0](arguments.work, SMALLEST if arguments.tiny else FULL)
        (arguments.work / f"{arguments.part}.json").write_text(json.dumps(records), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory(prefix="finray-gpu-") as name:
        folder = arguments.work or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        measured: Record = {}

        def report(result: Record) -> None:
            measured.update(result)
            if arguments.json:
                arguments.json.write_text(json.dumps(result, indent=1), encoding="utf-8")

        measure(folder, tiny=arguments.tiny, report=report)
    print(f"{measured['machine']}, {measured['seconds']:.0f} s\n\n{table(measured['records'])}\n")
    print("\n".join(measured["binding"]))


if __name__ == "__main__":
    main()

"""The whole job at size: from files to a searchable index, and questions asked of it (``scale.py --job FOLDER``).

For each size, writes the files (rehearsal_files.py), runs `finray index` on them and counts the CPU seconds of all its
processes. Then `finray answer` asks the largest index. A stopped run continues: files and filings that are there stay,
and the CPU seconds of all runs count.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import process_cpu
from rehearsal_files import corpus_of, questions, write_files, write_questions

from finray.core.bootstrap import estimate
from finray.core.filing import Filing
from finray.index.reading.reader import IndexReader

ROOT = Path(__file__).resolve().parents[1]
_SETTINGS = ("--set", "encoder.model=hash", "--set", "index.in_process=false")
_TOLERANCE = 0.005
"""Of a value, relative: filings print millions."""


@dataclass(frozen=True, slots=True)
class Job:
    """``cpu_seconds`` by kind of process; ``output`` is the summary of `finray index` in its last run."""

    filings: int
    seconds: float
    cpu_seconds: dict[str, float]
    output: dict[str, Any]

    @property
    def total(self) -> float:
        return sum(self.cpu_seconds.values())


def rehearse(folder: Path, sizes: Sequence[int], asked: int) -> None:
    """Print the cost for each of ``sizes`` filings, and the results of ``asked`` questions to the largest index."""
    jobs = [_index(folder / str(size), size) for size in sorted(sizes)]
    print(_costs(jobs))
    print(_answers(folder / str(jobs[-1].filings), jobs[-1].filings, asked))


def _index(folder: Path, size: int) -> Job:
    done = folder / "job.json"
    write_files(folder / "filings", size)
    if not done.exists():
        command = [str(ROOT / "jobs" / "index.py"), str(folder / "filings"), "--index", str(folder / "index")]
        run = _run([*command, "--json", *_SETTINGS], folder / "index.log")
        if run.status:
            raise SystemExit(f"the job ended with status {run.status}; see {folder / 'index.log'}")
        done.write_text(json.dumps(run.output), encoding="utf-8")
    seconds, used = process_cpu.noted(folder / "index.log")
    return Job(size, seconds, used, json.loads(done.read_text(encoding="utf-8")))


def _run(command: Sequence[str], log: Path) -> process_cpu.Run:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return process_cpu.run([sys.executable, *command], environment, log)


def _costs(jobs: Sequence[Job]) -> str:
    """Markdown: CPU milliseconds a filing by kind of process, whole and from one size to the next."""
    kinds = sorted(jobs[-1].cpu_seconds, key=lambda kind: -jobs[-1].cpu_seconds[kind])
    lines = [
        f"| filings | seconds | CPU ms a filing | of it beyond the size before | {' | '.join(kinds)} |",
        "|---:" * (4 + len(kinds)) + "|",
    ]
    for before, job in zip((None, *jobs), jobs, strict=False):
        more = ""
        if before is not None:
            more = f"{1000 * (job.total - before.total) / (job.filings - before.filings):.1f}"
        each = [f"{1000 * job.cpu_seconds.get(kind, 0.0) / job.filings:.1f}" for kind in kinds]
        whole = f"{1000 * job.total / job.filings:.1f}"
        lines.append(f"| {job.filings:,} | {job.seconds:,.0f} | {whole} | {more} | {' | '.join(each)} |")
    stages = jobs[-1].output["stage_seconds"]
    lines.append(
        f"\nThe driver's seconds in the last run: commit {stages['commit']:.1f}, upkeep {stages['upkeep']:.1f}"
    )
    return "\n".join(lines)


def _answers(folder: Path, size: int, asked: int) -> str:
    """Markdown: filings found and answers right, by form, and the time."""
    index, gold_file, predictions = folder / "index", folder / "questions.jsonl", folder / "predictions.jsonl"
    chosen = questions(corpus_of(size), _indexed(index), asked)
    write_questions(gold_file, chosen)
    command = [str(ROOT / "jobs" / "answer.py"), str(gold_file), "--index", str(index), "--out", str(predictions)]
    run = _run([*command, "--json", *_SETTINGS], folder / "answer.log")
    made = [json.loads(line) for line in predictions.read_text(encoding="utf-8").splitlines()]
    by_qid = {one["qid"]: one for one in made}
    found: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for number, question in enumerate(chosen):
        one = by_qid[f"R-{number:05d}"]
        first = bool(one["documents"]) and one["documents"][0]["doc_name"] == question.gold
        value = one["value"]
        if value is None:  # a quotation
            right = question.printed in (one["answer"] or "")
        else:
            right = abs(value - question.value) <= _TOLERANCE * abs(question.value)
        for form in (question.form, "all"):
            found[form].append((float(first), float(right)))
    lines = ["\n| questions | n | right filing first | right answer |\n|---|---:|---:|---:|"]
    for form, results in found.items():
        shares = [estimate([result[column] for result in results]) for column in (0, 1)]
        lines.append(
            f"| {form} | {len(results)} | "
            + " | ".join(f"{s.value:.3f} [{s.low:.3f}, {s.high:.3f}]" for s in shares)
            + " |"
        )
    cpu = sum(run.cpu_seconds.values())
    lines.append(f"\n{len(chosen)} questions: {run.seconds:.0f} s, {1000 * cpu / len(chosen):.0f} CPU ms each")
    return "\n".join(lines)


def _indexed(index: Path) -> set[str]:
    """Accession numbers."""
    filings: Sequence[Filing] = IndexReader.open(str(index)).filings()
    return {filing.doc_name for filing in filings}

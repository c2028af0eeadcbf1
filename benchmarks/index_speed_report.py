"""Measurements of a round of benchmarks/index_speed.py, their ratios, and the report."""

from __future__ import annotations

import json
import math
import os
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from measured_process import Measurement

Clock = Literal["seconds", "cpu_seconds"]


@dataclass(frozen=True, slots=True)
class Corpus:
    names: tuple[str, ...]
    size: int

    @classmethod
    def of(cls, folder: Path) -> Corpus:
        paths = sorted(folder.iterdir())
        return cls(tuple(path.name for path in paths), sum(path.stat().st_size for path in paths))


@dataclass(frozen=True, slots=True)
class Round:
    """``finray_start`` and ``langchain_start`` measure the same commands on one short filing."""

    finray_start: Measurement
    langchain_start: Measurement
    finray: Measurement
    langchain: Measurement
    encoder: Measurement


Ratio = Callable[[Round], float]
RATIOS: dict[str, Ratio] = {
    "filings/s, finray : LangChain": lambda r: r.langchain.seconds / r.finray.seconds,
    "  without start-up (target: 3 or more)": lambda r: _net_langchain(r, "seconds") / _net_finray(r, "seconds"),
    "  by CPU time: filings/s": lambda r: _net_langchain(r, "cpu_seconds") / _net_finray(r, "cpu_seconds"),
    "time, finray : forward passes alone": lambda r: r.finray.seconds / r.encoder.output["forward_seconds"],
    "  without start-up (target: 1.3 or less)": lambda r: (
        _net_finray(r, "seconds") / r.encoder.output["forward_seconds"]
    ),
    "  without start-up, tokenizer in both": lambda r: _net_finray(r, "seconds") / r.encoder.output["seconds"],
    "  by CPU time: forward passes": lambda r: _net_finray(r, "cpu_seconds") / r.encoder.output["forward_cpu_seconds"],
}


def _ratios(rounds: list[Round]) -> dict[str, list[float]]:
    return {what: [ratio(r) for r in rounds] for what, ratio in RATIOS.items()}


def write_json(path: Path, corpus: Corpus, rounds: list[Round]) -> None:
    """Write every measurement; an undefined ratio is null."""
    ratios = {what.strip(): values for what, values in _ratios(rounds).items()}
    document = {
        "filings": corpus.names,
        "bytes": corpus.size,
        "processors": os.cpu_count(),
        "rounds": [asdict(r) for r in rounds],
        "ratios": {what: [_or_null(value) for value in values] for what, values in ratios.items()},
        "medians": {what: _or_null(_median(values)) for what, values in ratios.items()},
    }
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else value


def report(corpus: Corpus, rounds: list[Round]) -> str:
    title = (
        f"{len(corpus.names)} filings, {rounds[0].finray.output['pages']:,} pages, {corpus.size / 1e6:.1f} MB, "
        f"{os.cpu_count()} processors, {len(rounds)} rounds"
    )
    return "\n\n".join((title, _measurements_table(rounds), _ratio_table(_ratios(rounds))))


def _measurements_table(rounds: list[Round]) -> str:
    lines = ["round              seconds  start-up  filings/s  chunks  processor s  peak memory  others"]
    for number, r in enumerate(rounds, start=1):
        for name, run, start in (("finray", r.finray, r.finray_start), ("LangChain", r.langchain, r.langchain_start)):
            rate = run.output["indexed"] / run.seconds
            lines.append(f"{number} {name:15} {run.seconds:8.1f}  {start.seconds:8.1f}  {rate:9.3f}  {_tail(run)}")
        seconds, forward = r.encoder.output["seconds"], r.encoder.output["forward_seconds"]
        lines.append(f"{number} {'encoder':15} {seconds:8.1f}  {'':8}  {'':9}  {_tail(r.encoder)}")
        lines.append(f"{number} {'  forward only':15} {forward:8.1f}")
    return "\n".join(lines)


def _tail(run: Measurement) -> str:
    memory = f"{run.peak_bytes / 2**20:,.0f} MiB"
    return f"{run.output['chunks']:6}  {run.cpu_seconds:11.1f}  {memory:>11}  {run.others_cpu:6.0%}"


def _ratio_table(ratios: dict[str, list[float]]) -> str:
    lines = [f"{'ratio':42}  median  by round"]
    for what, values in ratios.items():
        by_round = "  ".join(f"{value:.2f}" for value in values)
        lines.append(f"{what:42}  {_median(values):6.2f}  {by_round}")
    return "\n".join(lines)


def _net_finray(r: Round, clock: Clock) -> float:
    return _net(getattr(r.finray, clock), getattr(r.finray_start, clock))


def _net_langchain(r: Round, clock: Clock) -> float:
    return _net(getattr(r.langchain, clock), getattr(r.langchain_start, clock))


def _net(whole: float, start: float) -> float:
    """Time without start-up; NaN if start-up took as long, because of few filings or much other work."""
    return whole - start if whole > start else math.nan


def _median(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return statistics.median(known) if known else math.nan

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
class Runs:
    """The contenders: finray with its static encoder, finray with MiniLM (None with --static-only), LangChain."""

    static: Measurement
    minilm: Measurement | None
    langchain: Measurement


@dataclass(frozen=True, slots=True)
class Round:
    """``starts`` measures the same commands as ``whole`` on one short filing."""

    starts: Runs
    whole: Runs
    encoder: Measurement | None

    def net(self, name: str, clock: Clock) -> float:
        """``clock`` of the contender ``name`` without its start-up; NaN if that took as long, because of few filings or
        much other work."""
        whole: float = getattr(getattr(self.whole, name), clock)
        start: float = getattr(getattr(self.starts, name), clock)
        return whole - start if whole > start else math.nan


Ratio = Callable[[Round], float]
OF_STATIC: dict[str, Ratio] = {
    "filings/s, static : LangChain (target: 15)": lambda r: r.whole.langchain.seconds / r.whole.static.seconds,
    "  static, without start-up (target: 20)": lambda r: r.net("langchain", "seconds") / r.net("static", "seconds"),
    "  static, by CPU time": lambda r: r.net("langchain", "cpu_seconds") / r.net("static", "cpu_seconds"),
    "  pages/s of static (target: 200)": lambda r: r.whole.static.output["pages"] / r.whole.static.seconds,
    "  pages/s of static, without start-up": lambda r: r.whole.static.output["pages"] / r.net("static", "seconds"),
}
OF_MINILM: dict[str, Callable[[Round, Measurement, Measurement], float]] = {
    "filings/s, MiniLM : LangChain": lambda r, minilm, _: r.whole.langchain.seconds / minilm.seconds,
    "  MiniLM, without start-up": lambda r, *_: r.net("langchain", "seconds") / r.net("minilm", "seconds"),
    "  MiniLM, by CPU time": lambda r, *_: r.net("langchain", "cpu_seconds") / r.net("minilm", "cpu_seconds"),
    "time, MiniLM : forward passes alone": lambda _, minilm, encoder: (
        minilm.seconds / encoder.output["forward_seconds"]
    ),
    "  forward, without start-up (target: 1.2)": lambda r, _, encoder: (
        r.net("minilm", "seconds") / encoder.output["forward_seconds"]
    ),
    "  forward and tokenizer, without start-up": lambda r, _, encoder: (
        r.net("minilm", "seconds") / encoder.output["seconds"]
    ),
    "  forward, by CPU time": lambda r, _, encoder: (
        r.net("minilm", "cpu_seconds") / encoder.output["forward_cpu_seconds"]
    ),
}


def _ratios(rounds: list[Round]) -> dict[str, list[float]]:
    found = {what: [ratio(r) for r in rounds] for what, ratio in OF_STATIC.items()}
    of_minilm = [(r, r.whole.minilm, r.encoder) for r in rounds]
    for what, each in OF_MINILM.items():
        if values := [each(r, minilm, encoder) for r, minilm, encoder in of_minilm if minilm and encoder]:
            found[what] = values
    return found


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
        f"{len(corpus.names)} filings, {rounds[0].whole.static.output['pages']:,} pages, {corpus.size / 1e6:.1f} MB, "
        f"{os.cpu_count()} processors, {len(rounds)} rounds"
    )
    return "\n\n".join((title, _measurements_table(rounds), _ratio_table(_ratios(rounds))))


def _measurements_table(rounds: list[Round]) -> str:
    lines = ["round              seconds  start-up  filings/s  chunks  processor s  peak memory  others"]
    for number, r in enumerate(rounds, start=1):
        for name, title in (("static", "finray, static"), ("minilm", "finray, MiniLM"), ("langchain", "LangChain")):
            run, start = getattr(r.whole, name), getattr(r.starts, name)
            if run is None:
                continue
            rate = run.output["indexed"] / run.seconds
            lines.append(f"{number} {title:15} {run.seconds:8.1f}  {start.seconds:8.1f}  {rate:9.3f}  {_tail(run)}")
        if r.encoder is None:
            continue
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


def _median(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return statistics.median(known) if known else math.nan

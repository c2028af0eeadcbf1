"""The index job beside a plain LangChain + Chroma script and beside its own encoder, on the same filings and model.

    make bench-index                                     builds both environments, generates filings, measures
    python benchmarks/index_speed.py FOLDER_OF_PDFS [--rounds 3] [--json result.json]

Each round runs, one after another, so that other work on the machine meets all of them alike:
  finray      jobs/index.py: `finray index` on a local Ray, into an empty LanceDB folder
  LangChain   langchain_baseline.py in its own environment, into an empty Chroma folder
  encoder     encoder_alone.py on the chunks that finray has just stored: the tokenizer and the forward passes, nothing
              else, on all processors
and before them the first two on one filing of one page, which gives their start-up: imports, Ray, loading the model,
making an index. Everything is measured from outside, whole processes with all that they start. Ratios are taken within
a round; the medians over rounds are the result. Times alone mean little, because machines differ and are shared:
`others` is the share of all processors that other work took meanwhile; a round where it is large is not worth much.

Without a folder, filings are generated (as PDF, 10-Ks of about 30 pages). Targets on two cores: at least 3 times
LangChain's filings per second; at most 1.3 times the time of the forward passes alone.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from measured_process import CommandFailedError, Measurement, measure

from finray.models.minilm import minilm_folder
from finray.sample.generate import generate_sample

HERE = Path(__file__).resolve().parent
LANGCHAIN_PYTHON = HERE / ".venv-langchain" / "bin" / "python"


@dataclass(frozen=True, slots=True)
class Round:
    """``finray_start`` and ``langchain_start`` are the same commands on one short filing."""

    finray_start: Measurement
    langchain_start: Measurement
    finray: Measurement
    langchain: Measurement
    encoder: Measurement


Ratio = Callable[[Round], float]
RATIOS: dict[str, Ratio] = {
    "filings/s, finray : LangChain": lambda r: r.langchain.seconds / r.finray.seconds,
    "  without start-up (target: 3 or more)": lambda r: _net(r.langchain, r.langchain_start)
    / _net(r.finray, r.finray_start),
    "  by processor time": lambda r: r.langchain.cpu_seconds / r.finray.cpu_seconds,
    "time, finray : forward passes alone": lambda r: r.finray.seconds / r.encoder.output["forward_seconds"],
    "  without start-up (target: 1.3 or less)": lambda r: _net(r.finray, r.finray_start)
    / r.encoder.output["forward_seconds"],
    "  without start-up, tokenizer in both": lambda r: _net(r.finray, r.finray_start) / r.encoder.output["seconds"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="PDF filings; generated when left out")
    parser.add_argument("--rounds", type=int, choices=range(1, 100), metavar="N", default=2)
    parser.add_argument("--companies", type=int, default=4, help="of generated filings; each has about 14 of them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every measurement there")
    parser.add_argument("--langchain-python", type=Path, default=LANGCHAIN_PYTHON)
    arguments = parser.parse_args()
    if not arguments.langchain_python.is_file():
        raise SystemExit(f"no {arguments.langchain_python}: `make bench-index` builds that environment")
    with tempfile.TemporaryDirectory(prefix="finray-bench-") as name:
        scratch = Path(name)
        filings, short = _filings(arguments.folder, arguments.companies, scratch), _short_filing(scratch)
        corpus = _Corpus.of(filings)
        contenders = _Contenders(scratch, arguments.langchain_python)
        rounds: list[Round] = []
        try:
            contenders.start_ups(short)  # fills the file cache, and is not counted
            while len(rounds) < arguments.rounds:
                rounds.append(contenders.round(filings, short, len(rounds) + 1))
                if arguments.json:
                    _write_json(arguments.json, corpus, rounds)
        except CommandFailedError as error:
            if rounds:
                print(_report(corpus, rounds))
            raise SystemExit(f"error: after {len(rounds)} whole rounds: {error}") from error
    print(_report(corpus, rounds))


@dataclass(frozen=True, slots=True)
class _Corpus:
    names: tuple[str, ...]
    size: int

    @classmethod
    def of(cls, folder: Path) -> _Corpus:
        paths = sorted(folder.iterdir())
        return cls(tuple(path.name for path in paths), sum(path.stat().st_size for path in paths))


class _Contenders:
    """Runs each contender from an empty folder, with this checkout's code and the shipped settings."""

    def __init__(self, scratch: Path, langchain_python: Path) -> None:
        self._scratch = scratch
        self._langchain_python = str(langchain_python.absolute())
        shipped = {k: v for k, v in os.environ.items() if not k.startswith("FINRAY_") and k != "RAY_ADDRESS"}
        self._environment = {**shipped, "HF_HUB_OFFLINE": "1"}
        self._finray_environment = {**self._environment, "PYTHONPATH": str(HERE.parent)}

    def round(self, filings: Path, short: Path, number: int) -> Round:
        finray_start, langchain_start = self.start_ups(short)
        finray = _said(f"round {number} finray", self.finray(filings))
        langchain = _said(f"round {number} LangChain", self.langchain(filings))
        if finray.output["indexed"] != langchain.output["indexed"]:
            aside = [f"{f['source_uri']}: {f['reason']}" for f in finray.output["failures"]]
            raise CommandFailedError(
                f"finray indexed {finray.output['indexed']} filings, LangChain {langchain.output['indexed']}: leave "
                f"out what is set aside {aside} or there twice {finray.output['skipped']}, to compare the same work"
            )
        encoder = _said(f"round {number} encoder", self.encoder())
        return Round(finray_start, langchain_start, finray, langchain, encoder)

    def start_ups(self, short: Path) -> tuple[Measurement, Measurement]:
        return _said("start-up finray", self.finray(short)), _said("start-up LangChain", self.langchain(short))

    def finray(self, filings: Path) -> Measurement:
        job = [sys.executable, str(HERE.parent / "jobs" / "index.py"), str(filings), "--index", self._empty("index")]
        return measure([*job, "--json"], self._finray_environment, accepted=(0, 1))

    def langchain(self, filings: Path) -> Measurement:
        script = [self._langchain_python, str(HERE / "langchain_baseline.py"), str(filings), self._empty("chroma")]
        return measure([*script, str(minilm_folder())], self._environment)

    def encoder(self) -> Measurement:
        index = str(self._scratch / "index")
        return measure([sys.executable, str(HERE / "encoder_alone.py"), index], self._finray_environment)

    def _empty(self, name: str) -> str:
        shutil.rmtree(self._scratch / name, ignore_errors=True)
        return str(self._scratch / name)


def _filings(folder: Path | None, companies: int, scratch: Path) -> Path:
    """A folder of nothing but the PDF files to index."""
    chosen = scratch / "filings"
    if folder is None:
        generate_sample(scratch / "sample", companies=companies, formats=("pdf",), questions=0, pages="full")
        (scratch / "sample" / "filings").rename(chosen)
        return chosen
    chosen.mkdir()
    for path in sorted(folder.glob("*.pdf")):
        shutil.copyfile(path, chosen / path.name)
    if not any(chosen.iterdir()):
        raise SystemExit(f"error: no *.pdf in {folder}; give a folder of PDF filings, or none to have some generated")
    return chosen


def _short_filing(scratch: Path) -> Path:
    """A folder with one filing, the shortest of a small sample."""
    generate_sample(scratch / "one", companies=1, years=1, formats=("pdf",), questions=0)
    shortest = min((scratch / "one" / "filings").iterdir(), key=lambda path: (path.stat().st_size, path.name))
    chosen = scratch / "short"
    chosen.mkdir()
    shutil.copyfile(shortest, chosen / shortest.name)
    return chosen


def _net(whole: Measurement, start: Measurement) -> float:
    """Seconds without start-up; NaN where start-up took as long, with few filings or much other work."""
    seconds: float = whole.seconds - start.seconds
    return seconds if seconds > 0 else math.nan


def _median(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return statistics.median(known) if known else math.nan


def _said(what: str, measurement: Measurement) -> Measurement:
    print(f"{what}: {measurement.seconds:.1f} s, others {measurement.others_cpu:.0%}", file=sys.stderr, flush=True)
    return measurement


def _ratios(rounds: list[Round]) -> dict[str, list[float]]:
    return {what: [ratio(r) for r in rounds] for what, ratio in RATIOS.items()}


def _write_json(path: Path, corpus: _Corpus, rounds: list[Round]) -> None:
    """Every measurement; a ratio that could not be taken is null."""
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


def _report(corpus: _Corpus, rounds: list[Round]) -> str:
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


if __name__ == "__main__":
    main()

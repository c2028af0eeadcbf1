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
`others` is the share of all processors that other work took meanwhile; where it is large, or differs between the runs
of a round, the times of that round mean nothing, and only the ratios by processor time (without start-up) mean
something. Start-up is that of one encoding worker, a second worker's counts as work: give filings for minutes of work.

Without a folder, filings are generated (as PDF, 10-Ks of about 30 pages). Targets on two cores: at least 3 times
LangChain's filings per second; at most 1.3 times the time of the forward passes alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from index_speed_report import Corpus, Round, report, write_json
from measured_process import CommandFailedError, Measurement, measure

from finray.lab.sample.generate import generate_sample
from finray.models.minilm import minilm_folder

HERE = Path(__file__).resolve().parent
LANGCHAIN_PYTHON = HERE / ".venv-langchain" / "bin" / "python"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="PDF filings; generated when left out")
    parser.add_argument("--rounds", type=int, choices=range(1, 100), metavar="N", default=2)
    parser.add_argument("--companies", type=int, default=4, help="of generated filings; each has about 14 of them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every measurement there")
    parser.add_argument("--langchain-python", type=Path, default=LANGCHAIN_PYTHON)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or the running contender would outlive this process
    if not arguments.langchain_python.is_file():
        raise SystemExit(f"no {arguments.langchain_python}: `make bench-index` builds that environment")
    with tempfile.TemporaryDirectory(prefix="finray-bench-") as name:
        scratch = Path(name)
        filings, short = _filings(arguments.folder, arguments.companies, scratch), _short_filing(scratch)
        corpus = Corpus.of(filings)
        contenders = _Contenders(scratch, arguments.langchain_python)
        rounds: list[Round] = []
        try:
            contenders.start_ups(short)  # fills the file cache, and is not counted
            while len(rounds) < arguments.rounds:
                rounds.append(contenders.round(filings, short, len(rounds) + 1))
                if arguments.json:
                    write_json(arguments.json, corpus, rounds)
        except CommandFailedError as error:
            if rounds:
                print(report(corpus, rounds))
            raise SystemExit(f"error: after {len(rounds)} whole rounds: {error}") from error
    print(report(corpus, rounds))


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


def _said(what: str, measurement: Measurement) -> Measurement:
    print(f"{what}: {measurement.seconds:.1f} s, others {measurement.others_cpu:.0%}", file=sys.stderr, flush=True)
    return measurement


if __name__ == "__main__":
    main()

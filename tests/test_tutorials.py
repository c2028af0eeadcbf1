"""The tutorials: their commands run and print what the pages show."""

from __future__ import annotations

import datetime as dt
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import openpyxl
import pytest

from finray.lab.sample.edgar import Submission, write_edgar
from tools.faults.edgar import LocalEdgar

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SHARED = Path(os.environ.get("FINRAY_SHARED_DATA", ROOT.parent / "shared" / "data"))
NOTHING_ASIDE = re.compile(r"[\s│╭╮╰╯─]+")
FILINGS = (
    ("aapl-10-k-2024-11-01.html", "AAPL", "0000320193", "Apple Inc.", dt.date(2024, 9, 28)),
    ("ko-10-k-2025-02-20.html", "KO", "0000021344", "COCA COLA CO", dt.date(2024, 12, 31)),
    ("nflx-10-k-2025-01-27.html", "NFLX", "0001065280", "NETFLIX INC", dt.date(2024, 12, 31)),
)


def commands(page: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each command of a tutorial with the lines that it shows; a line "…" stands for others that are left out."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        command, *shown = block.splitlines()
        program, *arguments = shlex.split(command.removeprefix("$ "))
        assert program == "finray"
        if arguments[0] != "serve":  # until Ctrl-C; tests/serve have it
            yield arguments, [line for line in shown if line.strip("… ")]


def follow(
    page: str, folder: Path, variables: Mapping[str, str] | None = None, options: Mapping[str, list[str]] | None = None
) -> None:
    """Run every command in ``folder``, with ``options`` added by the name of the command."""
    for arguments, shown in commands(page):
        ran = subprocess.run(
            [sys.executable, "-m", "finray.cli", *arguments, *(options or {}).get(arguments[0], ())],
            cwd=folder,
            env=os.environ | {"COLUMNS": "80", "PYTHONPATH": str(ROOT)} | dict(variables or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        printed = NOTHING_ASIDE.sub(" ", ran.stdout)
        for line in shown:
            assert NOTHING_ASIDE.sub(" ", line).strip() in printed, f"{arguments}: {line}\n{ran.stdout}"


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.timeout(900)
def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    follow("tutorial.md", tmp_path)


@pytest.fixture
def edgar(tmp_path: Path) -> Iterator[str]:
    """The address of an EDGAR with one real annual report of each of three companies."""
    submissions = []
    for number, (name, ticker, cik, company, period) in enumerate(FILINGS, start=1):
        path = SHARED / "edgar" / "html" / name
        if not path.is_file():
            pytest.skip(f"no real filings in {SHARED}")
        filed = dt.date.fromisoformat(path.stem[-10:])
        accession = f"{cik}-{filed:%y}-{number:06}"
        header = (
            f"<SEC-DOCUMENT>{accession}.txt : {filed:%Y%m%d}\n<SEC-HEADER>{accession}.hdr.sgml : {filed:%Y%m%d}\n"
            f"ACCESSION NUMBER:\t\t{accession}\nCONFORMED SUBMISSION TYPE:\t10-K\nPUBLIC DOCUMENT COUNT:\t\t1\n"
            f"CONFORMED PERIOD OF REPORT:\t{period:%Y%m%d}\nFILED AS OF DATE:\t\t{filed:%Y%m%d}\n\nFILER:\n\n"
            f"\tCOMPANY DATA:\t\n\t\tCOMPANY CONFORMED NAME:\t\t\t{company}\n\t\tCENTRAL INDEX KEY:\t\t\t{cik}\n"
            f"</SEC-HEADER>\n<DOCUMENT>\n<TYPE>10-K\n<SEQUENCE>1\n<FILENAME>{name}\n<TEXT>\n"
        )
        content = header.encode() + path.read_bytes() + b"\n</TEXT>\n</DOCUMENT>\n</SEC-DOCUMENT>\n"
        submissions.append(Submission(accession, cik, company, "10-K", filed, period, content, ticker))
    write_edgar(tmp_path / "edgar", submissions, feed=False)
    server = LocalEdgar(tmp_path / "edgar")
    yield server.start()
    server.stop()


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.timeout(900)
def test_the_tutorial_with_real_companies(edgar: str, tmp_path: Path) -> None:
    """Without vectors and Ray, which take minutes and change no answer here."""
    text = (DOCS / "tutorial-edgar.md").read_text(encoding="utf-8")
    for name, content in re.findall(r'```csv title="(\S+)"\n(.*?)```', text, re.DOTALL):
        (tmp_path / name).write_text(content, encoding="utf-8")
    variables = {
        "EDGAR_BASE_URL": edgar,
        "EDGAR_DATA_URL": edgar,
        "EDGAR_LOCAL_DATA_DIR": str(tmp_path / "edgartools"),
        "FINRAY_ENCODER__MODEL": "hash",
        "FINRAY_INDEX__IN_PROCESS": "true",
    }
    in_process = ["--workers", "0"]
    follow("tutorial-edgar.md", tmp_path, variables, {"answer": in_process, "panel": in_process})
    answers = openpyxl.load_workbook(tmp_path / "answers.xlsx")["answers"]
    heads, *rows = answers.iter_rows(values_only=True)
    found = {row[heads.index("question")]: row for row in rows}
    for question, answer, quoted in re.findall(r"^\| (What [^|]*\?) \| ([^|]*) \| ([^|]*) \|$", text, re.MULTILINE):
        row = found[question]
        assert (row[heads.index("answer")], row[heads.index("quoted cell")]) == (answer, quoted)
        assert str(row[heads.index("link")]).startswith("https://www.sec.gov/")
    panel = openpyxl.load_workbook(tmp_path / "panel.xlsx")["panel"]
    assert panel.max_row == 10

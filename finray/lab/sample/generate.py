"""Writes a sample: fictional filings, and questions about them with exact answers."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from finray.core.errors import UsageError
from finray.lab.sample.plan import LAST_YEAR, Plan, drafts, make_plans
from finray.lab.sample.printing import SUFFIX, Format, PrintedFiling, print_filing, write_file
from finray.lab.sample.questions import make_questions
from finray.lab.sample.world import World

MANIFEST = "sample.json"
_COMPANIES_PER_WORKER = 4
"""Companies for each worker process; starting one costs as much as writing a few companies."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """Summary of a written sample. ``filings`` counts files by form, ``questions`` counts them by type."""

    folder: Path
    filings: dict[str, int]
    pages: int
    questions: dict[str, int]

    @property
    def n_filings(self) -> int:
        return sum(self.filings.values())

    @property
    def n_questions(self) -> int:
        return sum(self.questions.values())


def generate_sample(
    folder: Path,
    *,
    companies: int = 4,
    years: int = 3,
    seed: int = 0,
    formats: Sequence[Format] = ("pdf", "html"),
    questions: int = 60,
    pages: Literal["small", "full"] = "small",
    workers: int | None = None,
    progress: Progress | None = None,
) -> SampleSummary:
    """Write ``folder/filings/*`` and ``folder/questions.jsonl``.

    The files depend on the other arguments alone, byte for byte, not on ``workers`` (None chooses). ``pages``
    "small" prints 10-Ks of about 12 pages, "full" of about 30. ``progress`` is called with the number of companies
    done and the total. A folder that holds another sample, or other files under ``filings``, raises UsageError; the
    same sample is written again in place, so a killed run is simply repeated.
    """
    _check(companies, years, questions, formats, pages)
    arguments = {
        "companies": companies,
        "years": years,
        "seed": seed,
        "formats": sorted(formats),
        "questions": questions,
        "pages": pages,
    }
    _claim(folder, arguments)
    plans = make_plans(companies, years, seed, full=pages == "full")
    filings: list[PrintedFiling] = []
    for done, printed in enumerate(_printed(plans, folder / "filings", tuple(formats), workers), start=1):
        filings += printed
        if progress:
            progress(done, companies)
    world = World(
        tuple(plan.company for plan in plans),
        {plan.company.cik: plan.ledger for plan in plans},
        tuple(filings),
        LAST_YEAR - years + 1,
        LAST_YEAR,
        seed,
    )
    asked = make_questions(world, questions)
    write_file(
        folder / "questions.jsonl", "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in asked).encode()
    )
    return SampleSummary(
        folder,
        dict(Counter(filing.form for filing in filings)),
        sum(f.pages for f in filings),
        dict(Counter(str(line["question_type"]) for line in asked)),
    )


def write_company(plan: Plan, folder: Path, formats: tuple[Format, ...]) -> list[PrintedFiling]:
    """Print and write the filings of one company, in a worker process."""
    printed = []
    for draft in drafts(plan):
        filing, content = print_filing(draft, formats, plan.seed)
        write_file(folder / filing.file_name, content)
        printed.append(filing)
    return printed


def _printed(
    plans: Sequence[Plan], folder: Path, formats: tuple[Format, ...], workers: int | None
) -> Iterator[list[PrintedFiling]]:
    task = partial(write_company, folder=folder, formats=formats)
    count = workers or max(1, min(os.cpu_count() or 1, len(plans) // _COMPANIES_PER_WORKER))
    if count == 1:
        yield from map(task, plans)
        return
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(task, plans)


def _check(companies: int, years: int, questions: int, formats: Sequence[str], pages: str) -> None:
    for name, value, low, high in (
        ("companies", companies, 1, 250),
        ("years", years, 1, 20),
        ("questions", questions, 0, 100_000),
    ):
        if not low <= value <= high:
            raise UsageError(f"{name} = {value}: a sample takes {low} to {high}")
    unknown = set(formats) - set(SUFFIX)
    if unknown or not formats:
        raise UsageError(f"formats = {list(formats)}: give one or more of {', '.join(SUFFIX)}")
    if pages not in ("small", "full"):
        raise UsageError(f"pages = {pages!r}: give small or full")


def _claim(folder: Path, arguments: dict[str, object]) -> None:
    """Create the folder, or check that it holds the same sample."""
    manifest, filings = folder / MANIFEST, folder / "filings"
    wanted = json.dumps(arguments, sort_keys=True) + "\n"
    if manifest.is_file() and manifest.read_text(encoding="utf-8") == wanted:
        return
    if manifest.is_file() or (filings.is_dir() and any(filings.iterdir())):
        raise UsageError(f"{folder} already holds other filings; give an empty folder, or remove that one")
    write_file(manifest, wanted.encode())

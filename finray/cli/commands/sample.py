"""``finray sample``: fictional filings and questions."""

from __future__ import annotations

from pathlib import Path
from typing import cast, get_args

from rich.console import Console

from finray.cli.commands.progress import progress_bar
from finray.core.errors import UsageError
from finray.lab.sample.broken import write_broken_files
from finray.lab.sample.edgar import sample_submissions, write_edgar
from finray.lab.sample.generate import generate_sample
from finray.lab.sample.printing import Format


def run_sample(
    folder: Path,
    *,
    companies: int,
    years: int,
    questions: int,
    seed: int,
    formats: str,
    full: bool,
    broken: bool,
    console: Console,
) -> None:
    """Write the sample and say what it holds. Raises UsageError for an unknown format."""
    wanted = [name.strip() for name in formats.split(",") if name.strip()]
    unknown = sorted(set(wanted) - set(get_args(Format)))
    if unknown or not wanted:
        raise UsageError(f"--formats {formats!r}: choose from {', '.join(get_args(Format))}")
    with progress_bar(console, "writing filings") as progress:
        summary = generate_sample(
            folder,
            companies=companies,
            years=years,
            seed=seed,
            formats=cast(list[Format], wanted),
            questions=questions,
            pages="full" if full else "small",
            progress=progress,
        )
    if broken:
        write_broken_files(folder / "filings")
    kinds = ", ".join(f"{count} {form}" for form, count in sorted(summary.filings.items()))
    console.print(
        f"{summary.n_filings} filings ({kinds}), {summary.pages} pages, {summary.n_questions} questions in {folder}"
    )


def run_sample_edgar(folder: Path, *, companies: int, years: int, seed: int, console: Console) -> None:
    """Write EDGAR's folders with the sample's filings, and say how to sync from them."""
    submissions = sample_submissions(companies, years, seed)
    write_edgar(folder, submissions)
    first, last = (pick(submission.filed_at for submission in submissions) for pick in (min, max))
    console.print(
        f"{len(submissions)} filings of {first} to {last} in {folder}. To sync from them, serve the folder:\n"
        f"  python -m http.server --directory {folder} --bind 127.0.0.1 8088\n"
        "  export EDGAR_BASE_URL=http://127.0.0.1:8088 EDGAR_DATA_URL=http://127.0.0.1:8088\n"
        "  export FINRAY_EDGAR__CONTACT='COMPANY E-MAIL'\n"
        f"  finray sync --raw raw --index index --since {first} --until {last}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )

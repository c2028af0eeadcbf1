"""``finray sample``: fictional filings and questions."""

from __future__ import annotations

from pathlib import Path
from typing import cast, get_args

from rich.console import Console

from finray.commands.progress import progress_bar
from finray.errors import UsageError
from finray.sample.broken import write_broken_files
from finray.sample.generate import generate_sample
from finray.sample.printing import Format


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

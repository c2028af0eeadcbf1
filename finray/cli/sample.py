"""``finray sample``: generates fictional filings and questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from finray.cli.output import emit, out
from finray.cli.progress import progress_bar
from finray.core.errors import UsageError


def sample(
    folder: Annotated[Path, typer.Argument(help="Folder to write; gets filings/ and questions.jsonl.")],
    companies: Annotated[int, typer.Option(min=1, help="Fictional companies.")] = 4,
    years: Annotated[int, typer.Option(min=1, help="Fiscal years of each company.")] = 3,
    questions: Annotated[int, typer.Option(min=0, help="Questions with exact gold answers.")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed writes the same bytes.")] = 0,
    formats: Annotated[str, typer.Option(help="Comma-separated: pdf, html, txt.")] = "pdf,html",
    full: Annotated[bool, typer.Option("--full", help="Filings of realistic length instead of short ones.")] = False,
    broken: Annotated[
        bool, typer.Option("--broken", help="Add broken files, such as real folders of filings contain.")
    ] = False,
    edgar: Annotated[
        bool, typer.Option("--edgar", help="Write a small EDGAR instead, to try `finray sync` without a network.")
    ] = False,
) -> int:
    """Generate fictional filings that look as alike as real ones, and questions about them."""
    from finray.lab.sample.broken import write_broken_files
    from finray.lab.sample.generate import generate_sample
    from finray.lab.sample.printing import SUFFIX, Format

    if edgar:
        return _edgar(folder, companies, years, seed)
    wanted = [name.strip() for name in formats.split(",") if name.strip()]
    if not wanted or not {*wanted} <= {*SUFFIX}:
        raise UsageError(f"--formats {formats!r}: choose from {', '.join(SUFFIX)}")
    with progress_bar(out, "writing filings") as progress:
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
    text = f"{summary.n_filings} filings ({kinds}), {summary.pages} pages, {summary.n_questions} questions in {folder}"
    emit(summary, text, as_json=False)
    return 0


def _edgar(folder: Path, companies: int, years: int, seed: int) -> int:
    """Write EDGAR's folders with the sample's filings, and print how to sync from them."""
    from finray.lab.sample.edgar import sample_submissions, write_edgar

    submissions = sample_submissions(companies, years, seed)
    write_edgar(folder, submissions)
    first, last = (pick(submission.filed_at for submission in submissions) for pick in (min, max))
    text = (
        f"{len(submissions)} filings of {first} to {last} in {folder}. To sync from them, serve the folder:\n"
        f"  python -m http.server --directory {folder} --bind 127.0.0.1 8088\n"
        "  export EDGAR_BASE_URL=http://127.0.0.1:8088 EDGAR_DATA_URL=http://127.0.0.1:8088\n"
        "  export FINRAY_EDGAR__CONTACT='COMPANY E-MAIL'\n"
        f"  finray sync --raw raw --index index --since {first} --until {last}"
    )
    emit(submissions, text, as_json=False)
    return 0

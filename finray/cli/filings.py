"""From filings to an index: sample, index, sync, check, maintain, extend."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from finray.cli.options import IndexOption, JsonOption, PresetOption, SetOption, err, out, settings_of


def sample(
    folder: Annotated[Path, typer.Argument(help="Folder to write; gets filings/ and questions.jsonl.")],
    companies: Annotated[int, typer.Option(min=1, help="Fictional companies.")] = 4,
    years: Annotated[int, typer.Option(min=1, help="Fiscal years of each company.")] = 3,
    questions: Annotated[int, typer.Option(min=0, help="Questions with exact gold answers.")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed writes the same bytes.")] = 0,
    formats: Annotated[str, typer.Option(help="Comma-separated: pdf, html, txt.")] = "pdf,html",
    full: Annotated[bool, typer.Option("--full", help="Filings of a realistic length instead of short ones.")] = False,
    broken: Annotated[
        bool, typer.Option("--broken", help="Add broken files, as folders of filings have them.")
    ] = False,
    edgar: Annotated[
        bool, typer.Option("--edgar", help="Write a small EDGAR instead, to try `finray sync` on without a network.")
    ] = False,
) -> None:
    """Generate fictional filings that look alike as real ones do, and questions about them."""
    from finray.cli.commands.sample import run_sample, run_sample_edgar

    if edgar:
        run_sample_edgar(folder, companies=companies, years=years, seed=seed, console=out)
        return
    run_sample(
        folder,
        companies=companies,
        years=years,
        questions=questions,
        seed=seed,
        formats=formats,
        full=full,
        broken=broken,
        console=out,
    )


def index(
    sources: Annotated[list[str], typer.Argument(help="Folders, globs, files or s3:// locations of filings.")],
    index: IndexOption,
    preset: PresetOption = "local",
    set_: SetOption = None,
    retry_failed: Annotated[
        bool, typer.Option(help="Read files again that failed before and have not changed.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Read, parse, chunk, embed and store filings. Run again, it does only what is new or changed."""
    from finray.cli.commands.index import run_index

    settings = settings_of(preset, set_)
    raise typer.Exit(run_index(sources, index, settings, retry_failed=retry_failed, as_json=json_, out=out))


def sync(
    raw: Annotated[str, typer.Option("--raw", help="Raw filings and their ledger: a folder or s3:// URI.")],
    since: Annotated[datetime, typer.Option(formats=["%Y-%m-%d"], help="First filing date, as in 2024-01-31.")],
    index: Annotated[str | None, typer.Option("--index", help="Index to bring up to date; without, none is.")] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Last filing date; without, up to today.")
    ] = None,
    forms: Annotated[str, typer.Option(help="Comma-separated; each stands for its amendments too.")] = "10-K,10-Q,8-K",
    tickers: Annotated[str | None, typer.Option(help="Companies: tickers, one a line, or CSV (docs/sync.md).")] = None,
    ciks: Annotated[str | None, typer.Option(help="Companies: CIKs, one a line, or CSV.")] = None,
    from_feed: Annotated[
        list[str] | None,
        typer.Option(
            help="Feed archives or full-submission files (file, folder, glob, s3://) instead of EDGAR's indexes; "
            '"edgar" for EDGAR\'s own daily feed archives. May be repeated.'
        ),
    ] = None,
    preset: PresetOption = "local",
    set_: SetOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Ask what was filed; fetch and write nothing.")] = False,
    retry_failed: Annotated[bool, typer.Option(help="Try filings again that were given up or skipped.")] = False,
    recheck: Annotated[bool, typer.Option("--recheck", help="Read every index of the range again.")] = False,
    now: Annotated[
        bool, typer.Option("--now", help="Ask for each chosen company too, for filings that no index lists yet.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Fetch what is new on EDGAR, politely and once, and index it. Run again, it does only what is missing."""
    from finray.cli.commands.sync import SyncRequest, run_sync

    request = SyncRequest(
        raw=raw,
        index=index,
        since=since.date(),
        until=until.date() if until else None,
        forms=forms,
        tickers=tickers,
        ciks=ciks,
        from_feed=tuple(from_feed or ()),
        dry_run=dry_run,
        retry_failed=retry_failed,
        recheck=recheck,
        companies_now=now,
    )
    raise typer.Exit(run_sync(request, settings_of(preset, set_), as_json=json_, out=out, err=err))


def check(
    index: IndexOption,
    raw: Annotated[str | None, typer.Option("--raw", help="The raw store of `finray sync` behind it.")] = None,
    preset: PresetOption = "local",
    set_: SetOption = None,
    deep: Annotated[bool, typer.Option("--deep", help="Read every value and every raw filing, not only keys.")] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Take out what does not agree, and fetch or index it again.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Hold the tables of an index against each other and against the raw store; mend them with --repair."""
    from finray.cli.commands.check import run_check

    settings = settings_of(preset, set_)
    raise typer.Exit(run_check(index, raw, settings, deep=deep, repair=repair, as_json=json_, out=out, err=err))


def maintain(
    index: IndexOption, preset: PresetOption = "local", set_: SetOption = None, json_: JsonOption = False
) -> None:
    """Compact an index, drop old versions, refresh its search indexes, and say what it holds, beside its readers."""
    from finray.cli.commands.maintain import run_maintain

    raise typer.Exit(run_maintain(index, settings_of(preset, set_), as_json=json_, out=out))


def extend(
    index: IndexOption,
    with_: Annotated[str, typer.Option("--with", help="Retrieval method: splade or page_scorer.")],
    preset: PresetOption = "local",
    set_: SetOption = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Start over, as another model needs.")] = False,
    json_: JsonOption = False,
) -> None:
    """Store the vectors that a retrieval method needs beside the index. Run again, it does only new filings."""
    from finray.cli.commands.extend import run_extend

    raise typer.Exit(
        run_extend(with_, index, settings_of(preset, set_), rebuild=rebuild, as_json=json_, out=out, err=err)
    )

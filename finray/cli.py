"""The command line. Each command is a few lines around a library call; jobs/ and serve/ call the same.

Exit codes: 0 done; 1 done with failures, which are listed; 2 the command could not run.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from finray.commands import judge_cli, keys, train_cli
from finray.errors import FinrayError, SettingsError, UsageError
from finray.settings import Settings, load_settings

app = typer.Typer(
    name="finray",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Open-domain question answering over SEC filings, in bulk and with evidence.",
)
out = Console()
err = Console(stderr=True)

IndexOption = Annotated[str, typer.Option("--index", help="Index location: a folder or s3:// URI.")]
PresetOption = Annotated[str, typer.Option("--preset", help="local, paper, vllm, or a settings file ending in .toml.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="One setting, as in --set loop.i_max=2. May be repeated.")
]
JudgementsOption = Annotated[
    str | None, typer.Option("--judgements", help="What `finray judge` wrote about these predictions, .jsonl.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a machine instead of text for a person.")]


def main() -> None:
    """Entry point: errors that finray raises on purpose are one line and exit code 2."""
    try:
        app()
    except UsageError as error:
        err.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except FinrayError as error:
        err.print(f"error: {type(error).__name__}: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where the demonstration writes.")] = Path("demo"),
    companies: Annotated[int, typer.Option(min=1, help="Fictional companies.")] = 4,
    questions: Annotated[int, typer.Option(min=1, help="Questions to ask.")] = 60,
) -> None:
    """Generate fictional filings, index them on a local Ray, answer questions about them, and score the answers."""
    from finray.commands.demo import run_demo

    raise typer.Exit(run_demo(folder, companies=companies, questions=questions, console=out))


@app.command()
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
    from finray.commands.sample import run_sample, run_sample_edgar

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


@app.command()
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
    from finray.commands.index import run_index

    settings = _settings(preset, set_)
    raise typer.Exit(run_index(sources, index, settings, retry_failed=retry_failed, as_json=json_, out=out))


@app.command()
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
    from finray.commands.sync import SyncRequest, run_sync

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
    raise typer.Exit(run_sync(request, _settings(preset, set_), as_json=json_, out=out, err=err))


@app.command()
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
    from finray.commands.check import run_check

    settings = _settings(preset, set_)
    raise typer.Exit(run_check(index, raw, settings, deep=deep, repair=repair, as_json=json_, out=out, err=err))


@app.command()
def maintain(
    index: IndexOption, preset: PresetOption = "local", set_: SetOption = None, json_: JsonOption = False
) -> None:
    """Compact an index, drop old versions, refresh its search indexes, and say what it holds, beside its readers."""
    from finray.commands.maintain import run_maintain

    raise typer.Exit(run_maintain(index, _settings(preset, set_), as_json=json_, out=out))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="One question.")],
    index: Annotated[str | None, typer.Option("--index", help="Index location: a folder or s3:// URI.")] = None,
    server: Annotated[
        str | None, typer.Option("--server", help="Ask a running service at this URL instead, as `finray serve` is.")
    ] = None,
    api_key_env: Annotated[
        str, typer.Option(help="Environment variable that holds the key for --server.")
    ] = "FINRAY_API_KEY",
    preset: PresetOption = "local",
    set_: SetOption = None,
    json_: JsonOption = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show what each stage did and why each filing ranked.")
    ] = False,
) -> None:
    """Answer one question, with the pages that the answer rests on."""
    from finray.commands.ask import run_ask, run_ask_server

    if (index is None) == (server is None):
        raise typer.BadParameter("give either --index or --server")
    if server is not None:
        raise typer.Exit(run_ask_server(question, server, api_key_env, as_json=json_, trace=trace, out=out, err=err))
    assert index is not None
    raise typer.Exit(run_ask(question, index, _settings(preset, set_), as_json=json_, trace=trace, out=out))


@app.command()
def answer(
    questions: Annotated[str, typer.Argument(help="Questions, .jsonl or .parquet, local or s3://.")],
    index: IndexOption,
    out_: Annotated[str, typer.Option("--out", help="Predictions, .jsonl or .parquet, local or s3://; resumes.")],
    preset: PresetOption = "local",
    set_: SetOption = None,
    retry_failed: Annotated[bool, typer.Option(help="Ask again what ended in an error.")] = False,
    oracle: Annotated[
        Literal["none", "document", "page"],
        typer.Option(help="Ceilings for evaluation: retrieve only from gold filings, or gold pages."),
    ] = "none",
    workers: Annotated[
        int | None, typer.Option(min=0, help="Ray workers, one for each CPU by default; 0 answers in this process.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Answer thousands of questions. Run again, it continues where it was."""
    from finray.commands.answer import run_answer

    chosen = [*(set_ or []), f"retrieval.oracle={oracle}"] if oracle != "none" else set_
    settings = _settings(preset, chosen)
    raise typer.Exit(
        run_answer(
            questions,
            index,
            out_,
            settings,
            retry_failed=retry_failed,
            workers=workers,
            as_json=json_,
            out=out,
            err=err,
        )
    )


@app.command()
def evaluate(
    predictions: Annotated[
        list[str], typer.Argument(help="PREDICTIONS... QUESTIONS: one or more runs, then the questions.")
    ],
    judgements: JudgementsOption = None,
    json_: JsonOption = False,
) -> None:
    """Score predictions against gold answers and pages; several runs stand side by side."""
    from finray.commands.evaluate import run_evaluate

    if len(predictions) < 2:
        raise UsageError("give at least one predictions file and, last, the question file")
    raise typer.Exit(run_evaluate(predictions[:-1], predictions[-1], judgements=judgements, as_json=json_, out=out))


@app.command()
def questions(
    sources: Annotated[
        list[str], typer.Argument(help="Folders, globs, files or s3:// locations of EDGAR HTML filings.")
    ],
    out_: Annotated[str, typer.Option("--out", help="Questions to write, .jsonl or .parquet, local or s3://.")],
    per_filing: Annotated[int, typer.Option(min=1, help="At most so many questions about one filing.")] = 40,
    seed: Annotated[int, typer.Option(help="The same seed writes the same questions.")] = 0,
    json_: JsonOption = False,
) -> None:
    """Write questions with exact answers and pages from the inline-XBRL tags of filings."""
    from finray.commands.questions import run_questions

    settings = load_settings()
    raise typer.Exit(run_questions(sources, out_, settings, per_filing=per_filing, seed=seed, as_json=json_, out=out))


@app.command()
def probes(
    questions_: Annotated[str, typer.Argument(metavar="QUESTIONS", help="Questions that the index can answer.")],
    index: IndexOption,
    out_: Annotated[str, typer.Option("--out", help="Questions to write, .jsonl or .parquet, local or s3://.")],
    count: Annotated[int, typer.Option(min=1, help="At most so many of each of the three types.")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed writes the same questions.")] = 0,
    json_: JsonOption = False,
) -> None:
    """Write questions that the index cannot answer: other companies, other years, metrics a company does not report."""
    from finray.commands.probes import run_probes

    raise typer.Exit(run_probes(questions_, index, out_, count=count, seed=seed, as_json=json_, out=out))


@app.command()
def report(
    predictions: Annotated[
        list[str], typer.Argument(help="PREDICTIONS... QUESTIONS: one or more runs, then the questions.")
    ],
    out_: Annotated[str, typer.Option("--out", help="The page to write, .html, local or s3://.")],
    index: Annotated[
        str | None, typer.Option("--index", help="Index to read companies, forms and the text of pages from.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst questions to show with their pages.")] = 10,
    judgements: JudgementsOption = None,
    json_: JsonOption = False,
) -> None:
    """Write one HTML page that shows how good answers are and where they go wrong; several runs stand side by side."""
    from finray.commands.report import run_report

    if len(predictions) < 2:
        raise UsageError("give at least one predictions file and, last, the question file")
    raise typer.Exit(
        run_report(
            predictions[:-1],
            predictions[-1],
            out_,
            index=index,
            title=title,
            worst=worst,
            judgements=judgements,
            as_json=json_,
            out=out,
        )
    )


@app.command()
def convert(
    dataset: Annotated[str, typer.Argument(help="financebench, lofin, finqa, tatqa, legalbench-rag or finray.")],
    source: Annotated[str, typer.Argument(help="The file as it was published, local or s3://.")],
    out_: Annotated[str, typer.Option("--out", help="Questions to write, .jsonl or .parquet, local or s3://.")],
    json_: JsonOption = False,
) -> None:
    """Turn a published data set into finray's question format; where a file is missing, say where to get it."""
    from finray.commands.convert import run_convert

    raise typer.Exit(run_convert(dataset, source, out_, as_json=json_, out=out))


@app.command()
def compare(
    methods: Annotated[
        list[str], typer.Argument(help="Retrieval methods, the baseline first: NAME or NAME:section.key=value,...")
    ],
    questions: Annotated[str, typer.Option("--questions", help="Questions, .jsonl or .parquet, local or s3://.")],
    index: IndexOption,
    preset: PresetOption = "local",
    set_: SetOption = None,
    out_: Annotated[
        str | None, typer.Option("--out", help="Folder or s3:// prefix for a predictions file each; resumes.")
    ] = None,
    retrieval_only: Annotated[
        bool, typer.Option("--retrieval-only/--answers", help="Retrieve only, or curate and answer as well.")
    ] = True,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables in Markdown.")] = False,
    json_: JsonOption = False,
) -> None:
    """Retrieve with several methods and print one table: recall, precision, overlap, latency, and paired differences.

    docs/methods.md lists the methods and what each needs.
    """
    from finray.commands.compare import run_compare

    raise typer.Exit(
        run_compare(
            methods,
            questions,
            index,
            preset=preset,
            overrides=_overrides(set_),
            folder=out_,
            retrieval_only=retrieval_only,
            as_json=json_,
            markdown=markdown,
            out=out,
            err=err,
        )
    )


@app.command()
def extend(
    index: IndexOption,
    with_: Annotated[str, typer.Option("--with", help="Retrieval method: splade or page_scorer.")],
    preset: PresetOption = "local",
    set_: SetOption = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Start over, as another model needs.")] = False,
    json_: JsonOption = False,
) -> None:
    """Store the vectors that a retrieval method needs beside the index. Run again, it does only new filings."""
    from finray.commands.extend import run_extend

    raise typer.Exit(
        run_extend(with_, index, _settings(preset, set_), rebuild=rebuild, as_json=json_, out=out, err=err)
    )


@app.command()
def presets() -> None:
    """List the shipped presets and every setting of each."""
    from finray.settings import preset_names

    out.print_json(json.dumps({name: load_settings(name, environment={}).model_dump() for name in preset_names()}))


@app.command()
def doctor(preset: PresetOption = "local", set_: SetOption = None, json_: JsonOption = False) -> None:
    """Show what this machine has, and what contains the programs that a language model writes."""
    from finray.commands.doctor import run_doctor

    raise typer.Exit(run_doctor(_settings(preset, set_), as_json=json_, out=out))


@app.command()
def serve(
    index: IndexOption,
    preset: PresetOption = "local",
    set_: SetOption = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen at.")] = 8000,
    replicas: Annotated[
        int, typer.Option(min=0, help="Processes that answer, beside the one that speaks HTTP; 0: that one answers.")
    ] = 0,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Ask nobody for a key; only with a loopback --host.")
    ] = False,
) -> None:
    """Serve an index over HTTP on this machine, on a Ray of its own. Without any key it makes one for this run."""
    from finray.commands.serve import run_serve

    settings, overrides = _settings(preset, set_), _overrides(set_)
    raise typer.Exit(
        run_serve(
            index, preset, overrides, settings, host=host, port=port, auth=not no_auth, replicas=replicas, out=out
        )
    )


app.add_typer(train_cli.app, name="train")
app.add_typer(keys.app, name="keys")


def _settings(preset: str, assignments: list[str] | None) -> Settings:
    return load_settings(preset, _overrides(assignments))


judge_cli.register(app, _settings)


def _overrides(assignments: list[str] | None) -> dict[str, Any]:
    overrides: dict[str, Any] = {}
    for assignment in assignments or ():
        name, separator, value = assignment.partition("=")
        if not separator:
            raise SettingsError(f"--set {assignment!r}: write it as section.name=value")
        overrides[name.strip()] = value.strip()
    return overrides


def print_json(value: Any) -> None:
    """One JSON document on standard output, unwrapped and uncoloured."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


if __name__ == "__main__":
    main()

"""From questions to answers: demo, ask, answer, serve; presets and doctor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from finray.cli.options import IndexOption, JsonOption, PresetOption, SetOption, err, out, overrides_of, settings_of
from finray.core.settings import load_settings


def demo(
    folder: Annotated[Path, typer.Option(help="Where the demonstration writes.")] = Path("demo"),
    companies: Annotated[int, typer.Option(min=1, help="Fictional companies.")] = 4,
    questions: Annotated[int, typer.Option(min=1, help="Questions to ask.")] = 60,
) -> None:
    """Generate fictional filings, index them on a local Ray, answer questions about them, and score the answers."""
    from finray.cli.commands.demo import run_demo

    raise typer.Exit(run_demo(folder, companies=companies, questions=questions, console=out))


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
    from finray.cli.commands.ask import run_ask, run_ask_server

    if (index is None) == (server is None):
        raise typer.BadParameter("give either --index or --server")
    if server is not None:
        raise typer.Exit(run_ask_server(question, server, api_key_env, as_json=json_, trace=trace, out=out, err=err))
    assert index is not None
    raise typer.Exit(run_ask(question, index, settings_of(preset, set_), as_json=json_, trace=trace, out=out))


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
    from finray.cli.commands.answer import run_answer

    chosen = [*(set_ or []), f"retrieval.oracle={oracle}"] if oracle != "none" else set_
    settings = settings_of(preset, chosen)
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
    from finray.cli.commands.serve import run_serve

    settings, overrides = settings_of(preset, set_), overrides_of(set_)
    raise typer.Exit(
        run_serve(
            index, preset, overrides, settings, host=host, port=port, auth=not no_auth, replicas=replicas, out=out
        )
    )


def presets() -> None:
    """List the shipped presets and every setting of each."""
    from finray.core.settings import preset_names

    out.print_json(json.dumps({name: load_settings(name, environment={}).model_dump() for name in preset_names()}))


def doctor(preset: PresetOption = "local", set_: SetOption = None, json_: JsonOption = False) -> None:
    """Show what this machine has, and what contains the programs that a language model writes."""
    from finray.cli.commands.doctor import run_doctor

    raise typer.Exit(run_doctor(settings_of(preset, set_), as_json=json_, out=out))

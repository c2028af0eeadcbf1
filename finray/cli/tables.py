"""``finray tables``: computes the tables of a publication."""

from __future__ import annotations

from typing import Annotated

import typer

from finray.cli.options import IndexOption, JsonOption, MarkdownOption, SetOption, overrides_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar


def tables(
    system: Annotated[str, typer.Argument(help="The published system; docs/methods.md lists them.")],
    questions: Annotated[
        list[str], typer.Option("--questions", help="Questions, .jsonl or .parquet, local or s3://. May be repeated.")
    ],
    index: IndexOption,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help="A preset or a settings file; default: that of the system (hirec, page-scorer), else local.",
        ),
    ] = None,
    set_: SetOption = None,
    models: Annotated[
        str | None, typer.Option("--models", help="Folder of a training run, with a model for each fold.")
    ] = None,
    only: Annotated[str, typer.Option("--only", help="Numbers of tables, such as 2,3; empty: all.")] = "",
    out_: Annotated[
        str | None, typer.Option("--out", help="Folder or s3:// prefix for the predictions of each row; resumes.")
    ] = None,
    markdown: MarkdownOption = False,
    json_: JsonOption = False,
) -> int:
    """Compute the tables of a published system over an index, with the published figures beside them.

    A model that is missing leaves a gap, which is named under the table.
    """
    from finray.lab.tables.paper_table import tables_data, tables_markdown, tables_text
    from finray.lab.tables.registry import paper_tables, system_named
    from finray.lab.tables.request import Request

    wanted = tuple(filter(None, (number.strip() for number in only.split(","))))
    request = Request(
        tuple(questions), index, preset or system_named(system).preset, overrides_of(set_), out_, models, wanted
    )
    with progress_bar(err, f"tables of {system}") as progress:
        found = paper_tables(system, request, progress)
    text = tables_markdown(found) if markdown else tables_text(found)
    emit(tables_data(found), text, as_json=json_)
    return 0

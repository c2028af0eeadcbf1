"""``finray compare``: compares retrieval methods on one question set, in this process."""

from __future__ import annotations

from typing import Annotated

import typer

from finray.cli.options import IndexOption, JsonOption, MarkdownOption, PresetOption, SetOption, overrides_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar


def compare(
    methods: Annotated[
        list[str], typer.Argument(help="Retrieval methods, the baseline first: NAME or NAME:section.key=value,...")
    ],
    questions: Annotated[str, typer.Option("--questions", help="Questions, .jsonl or .parquet, local or s3://.")],
    index: IndexOption,
    preset: PresetOption = "local",
    set_: SetOption = None,
    out_: Annotated[
        str | None, typer.Option("--out", help="Folder or s3:// prefix for the predictions of each; resumes.")
    ] = None,
    retrieval_only: Annotated[
        bool, typer.Option("--retrieval-only/--answers", help="Retrieve only, or curate and answer as well.")
    ] = True,
    markdown: MarkdownOption = False,
    json_: JsonOption = False,
) -> int:
    """Retrieve with several methods and print one table: recall, precision, overlap, latency, and paired differences.

    docs/methods.md lists the methods and their requirements.
    """
    from finray.lab.comparison import compare_methods, contenders
    from finray.lab.evaluation.comparison_tables import comparison_data, comparison_markdown, comparison_tables

    compared = contenders(methods, preset, overrides_of(set_), retrieval_only=retrieval_only)
    if retrieval_only:
        err.print("retrieval only: no curation, no answers (--answers runs the whole loop)", highlight=False)
    with progress_bar(err, "comparing") as progress:
        evaluations = compare_methods(compared, questions, index, out_, progress)
    write = comparison_markdown if markdown else comparison_tables
    data = comparison_data(evaluations, retrieval_only=retrieval_only)
    emit(data, write(evaluations, retrieval_only=retrieval_only), as_json=json_)
    return 1 if any(evaluation.statuses.get("error") for evaluation in evaluations.values()) else 0

"""``finray panel``: one question asked of many companies and years, as a table."""

from __future__ import annotations

from typing import Annotated

import typer

from finray.cli.answer import described
from finray.cli.options import (
    AppOption,
    IndexOption,
    JsonOption,
    PresetOption,
    RetryOption,
    ServiceOption,
    SetOption,
    WorkersOption,
    settings_of,
)
from finray.cli.output import emit, err, remark
from finray.cli.progress import progress_bar


def panel(
    templates: Annotated[
        list[str],
        typer.Argument(help="'{company}: capital expenditure in fiscal {year}'; 'capex = ...' names the column."),
    ],
    index: IndexOption,
    years: Annotated[str, typer.Option(help="2018-2022 or 2018,2020.")],
    out_: Annotated[str, typer.Option("--out", help="The table, .xlsx or .csv, local or s3://; resumes.")],
    company: Annotated[
        list[str] | None, typer.Option("--company", help="A company. May be repeated; by default all of the index.")
    ] = None,
    companies: Annotated[
        str | None, typer.Option(help="A file with a company on each line, or a .csv or .xlsx with a column company.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="What {metric} stands for in a template. May be repeated.")
    ] = None,
    preset: PresetOption = "local",
    set_: SetOption = None,
    service: ServiceOption = None,
    retry_failed: RetryOption = False,
    workers: WorkersOption = None,
    app: AppOption = None,
    json_: JsonOption = False,
) -> int:
    """Ask one question of every company and year: a table of companies by years by metrics. A second run resumes."""
    from finray.batch.company_files import read_companies
    from finray.batch.panels import Panel, read_years
    from finray.library import answer_panel, companies_of

    settings = settings_of(preset, set_)
    named = [*(company or ()), *(read_companies(companies, settings.bulk.max_table_bytes) if companies else ())]
    asked = Panel.of(templates, named or companies_of(index), read_years(years), metric or ())
    with progress_bar(err, "answering") as progress:
        summary = answer_panel(
            asked, index, out_, settings, service=service, retry_failed=retry_failed, workers=workers, app=app,
            progress=progress, remark=remark,
        )  # fmt: skip
    emit(summary, described(summary, out_), as_json=json_)
    return 1 if summary.failed else 0

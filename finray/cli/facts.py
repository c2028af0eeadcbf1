"""``finray facts``: line items over years as a table, without a question."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from finray.cli.options import IndexOption, JsonOption, ServiceOption
from finray.cli.output import emit

if TYPE_CHECKING:
    from rich.table import Table

    from finray.facts.records import Fact

_MARKS: Final = {"text": "", "ocr": " OCR", "doubted": " OCR?"}


def facts(
    index: IndexOption,
    companies: Annotated[
        list[str] | None, typer.Argument(help="Names, tickers or CIKs; by default all companies of the index.")
    ] = None,
    items: Annotated[
        str | None,
        typer.Option(
            help="revenue,capex,us-gaap:Goodwill,'Total net sales': names, tags or labels of rows, separated by "
            "commas; by default all that finray knows by name. A name has finray's sign (amounts paid or spent are "
            "positive), a tag the sign of the XBRL fact, a label that of the print."
        ),
    ] = None,
    item: Annotated[
        list[str] | None, typer.Option("--item", help="One more item, which may contain commas. May be repeated.")
    ] = None,
    years: Annotated[
        str | None, typer.Option(help="2018-2022 or 2018,2020; by default those with an annual report.")
    ] = None,
    out_: Annotated[
        str | None,
        typer.Option(
            "--out", help="A .csv, .xlsx, .parquet, .arrow, .json or .jsonl, local or s3://; else shown here."
        ),
    ] = None,
    every_filing: Annotated[
        bool,
        typer.Option(help="A row for each filing that prints the figure: restatements and amendments side by side."),
    ] = False,
    service: ServiceOption = None,
    json_: JsonOption = False,
) -> int:
    """Line items over years as a table: with cell, page, unit and tag, and whether they were restated later."""
    from finray.batch.panels import read_years
    from finray.core.records import to_object
    from finray.library import read_facts, save_facts

    asked = [*(part.strip() for part in (items or "").split(",") if part.strip()), *(item or ())]
    found = read_facts(index, companies or (), asked, read_years(years) if years else (), every_filing=every_filing)
    if out_ is not None:
        save_facts(out_, found, index, service=service)
    missing = sum(fact.value is None for fact in found)
    restated = sum(fact.restated is True and fact.version == 1 for fact in found)
    counts = f"{len(found) - missing:,} facts, {missing:,} missing, {restated:,} restated later"
    marks = Counter(map(_mark, found))
    if of_ocr := marks["ocr"] + marks["doubted"]:
        counts += f", {of_ocr:,} read by OCR, {marks['doubted']:,} of them doubted (?)"
    if json_:
        emit([to_object(fact) for fact in found], as_json=True)
    elif out_ is not None:
        emit(None, f"{counts} -> {out_}", as_json=False)
    else:
        emit(None, _table(found), counts, as_json=False)
    return 0


def _mark(fact: Fact) -> Literal["text", "ocr", "doubted"]:
    from finray.core.ocr_marks import is_doubted

    if fact.ocr is None or fact.value is None:
        return "text"
    return "doubted" if is_doubted(fact.ocr) else "ocr"


def _shown(value: float) -> str:
    return f"{value:,.2f}" if value % 1 else f"{value:,.0f}"


def _table(found: list[Fact]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in ("company", "item", "year", "value", "unit", "sign", "restated later", "filing", "page"):
        number = name in ("year", "value", "restated later", "page")
        table.add_column(name, justify="right" if number else "left", overflow="fold", no_wrap=number)
    for fact in found:
        value = (fact.reason or "") if fact.value is None else _shown(fact.value) + _MARKS[_mark(fact)]
        latest = f"to {_shown(fact.latest_value)}" if fact.restated and fact.latest_value is not None else ""
        page = "" if fact.page is None else str(fact.page + 1)
        cells = (
            fact.company,
            fact.item,
            str(fact.fiscal_year),
            value,
            fact.unit or "",
            fact.sign or "",
            latest,
            fact.doc_name or "",
            page,
        )
        table.add_row(*map(Text, cells))
    return table

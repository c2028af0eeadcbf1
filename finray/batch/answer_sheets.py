"""Predictions as rows of spreadsheets: one for each answer, several for its evidence. Pages count from 1 here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from finray.core.passages import Passage
from finray.core.predictions import CitedCell, Prediction
from finray.filings.pages.page_links import PageLinks
from finray.storage.sheets import Cell, Column, Styled, number_format

NOT_ASKED = "not asked yet"
_MAX_QUOTED = 4
"""Cells that one row quotes; the sheet of evidence has all."""

ANSWER_COLUMNS = (
    Column("answer", 32),
    Column("value", 18),
    Column("unit", 10),
    Column("status", 13),
    Column("confidence", 11),
    Column("grounded", 10),
    Column("filing", 28),
    Column("page", 7),
    Column("quoted cell", 40),
    Column("link", 24),
    Column("reason", 48),
    Column("qid", 16),
)
EVIDENCE_COLUMNS = (
    Column("qid", 16),
    Column("question", 48),
    Column("kind", 9),
    Column("company", 24),
    Column("form", 9),
    Column("filing", 28),
    Column("page", 7),
    Column("quoted", 48),
    Column("row", 36),
    Column("section", 24),
    Column("column", 24),
    Column("value", 18),
    Column("period end", 12),
    Column("months", 8),
    Column("statement", 12),
    Column("tag", 32),
    Column("link", 24),
)

GRID_COLUMNS = (
    Column("qid", 16),
    Column("question", 48),
    Column("company", 28),
    Column("item", 26),
    Column("period", 12),
    Column("value", 18),
    Column("unit", 10),
    Column("row", 36),
    Column("may be another line", 10),
    Column("filing", 28),
    Column("page", 7),
    Column("link", 24),
    Column("reason", 48),
)


def free_names(columns: Sequence[Column], taken: Sequence[str]) -> tuple[Column, ...]:
    """``columns``, each with another name if a table has a column of that name already."""
    used = {name.strip().casefold() for name in taken}
    return tuple(Column(f"finray {column.name}", column.width) if column.name in used else column for column in columns)


def answer_row(prediction: Prediction | None, qid: str, links: PageLinks) -> list[Cell]:
    """The cells under ANSWER_COLUMNS. None stands for a question that has no prediction yet."""
    if prediction is None:
        return [None, None, None, NOT_ASKED, *[None] * 7, qid]
    cited = _first_cited(prediction)
    value = None if prediction.status != "answered" or prediction.value is None else number(prediction)
    return [
        prediction.answer or None,
        value,
        prediction.unit if value is not None else None,
        prediction.status,
        None if prediction.confidence is None else Styled(prediction.confidence, "0%"),
        prediction.grounded,
        None if cited is None else cited.doc_name,
        None if cited is None else cited.page + 1,
        _quoted(prediction) or None,
        None if cited is None else _link(cited, links),
        reason(prediction) or None,
        qid,
    ]


def number(prediction: Prediction) -> Styled:
    """The value of an answer with its number format."""
    assert prediction.value is not None
    return Styled(prediction.value, number_format(prediction.unit, prediction.value))


def reason(prediction: Prediction) -> str:
    """Why there is no answer; empty for an answer."""
    if prediction.status == "error":
        return prediction.error or "error"
    if prediction.status == "unanswerable":
        nearest = f"nearest: {'; '.join(prediction.nearest)}" if prediction.nearest else ""
        return ". ".join(filter(None, ("; ".join(prediction.missing) or "not in the filings", nearest)))
    return ""


def evidence_rows(prediction: Prediction, links: PageLinks) -> Iterator[list[Cell]]:
    """A row under EVIDENCE_COLUMNS for each cell that the answer was computed from, then for each passage."""
    known = {document.filing_id: document for document in prediction.documents}
    asked: list[Cell] = [prediction.qid, prediction.question]

    def filing(item: CitedCell | Passage) -> list[Cell]:
        document = known.get(item.filing_id)
        return [
            document.company if document else None,
            document.form if document else None,
            item.doc_name,
            item.page + 1,
        ]

    for cell in prediction.operands:
        yield [
            *asked, "cell", *filing(cell), cell.text, cell.label, cell.section, cell.column_label,
            Styled(cell.value, number_format(None, cell.value)), cell.period_end, cell.months, cell.statement,
            cell.concept, _link(cell, links),
        ]  # fmt: skip
    for passage in prediction.evidence:
        yield [*asked, "passage", *filing(passage), passage.text, *[None] * 8, _link(passage, links)]


def grid_rows(prediction: Prediction, links: PageLinks) -> Iterator[list[Cell]]:
    """A row under GRID_COLUMNS for each figure of an answer over several companies, periods or items."""
    cited = {cell.name: cell for cell in prediction.operands}
    for cell in () if prediction.grid is None else prediction.grid.cells:
        source = cited[cell.operands[0]] if cell.operands else None
        yield [
            prediction.qid, prediction.question, cell.company, cell.item, cell.period,
            None if cell.value is None else Styled(cell.value, number_format(cell.unit, cell.value)), cell.unit,
            cell.row or None, cell.other_row or None,
            None if source is None else source.doc_name, None if source is None else source.page + 1,
            None if source is None else _link(source, links), cell.reason or None,
        ]  # fmt: skip


def _first_cited(prediction: Prediction) -> CitedCell | Passage | None:
    """The first operand of an answer, else its first passage of evidence; None without an answer."""
    if prediction.status != "answered":
        return None
    if prediction.operands:
        return prediction.operands[0]
    return prediction.evidence[0] if prediction.evidence else None


def _link(cited: CitedCell | Passage, links: PageLinks) -> Styled | None:
    address = links.page(cited.filing_id, cited.page, cited.box if isinstance(cited, CitedCell) else None)
    return None if address is None else Styled(address, link=address)


def _quoted(prediction: Prediction) -> str:
    if prediction.status != "answered":
        return ""
    cells = [f"{cell.label}: {cell.text}" for cell in prediction.operands]
    more = f" (and {len(cells) - _MAX_QUOTED} more)" if len(cells) > _MAX_QUOTED else ""
    return "; ".join(cells[:_MAX_QUOTED]) + more

"""Line items from inline XBRL that the tables do not give: tagged numbers in sentences and row labels, in cells that
are not read, and hidden ones that the print only describes ("more than half")."""

import datetime as dt
from collections.abc import Iterable, Sequence

from finray.core.filing import LineItem
from finray.filings.html.inline_xbrl import TAGGED_NUMBER, NumericFact, numeric_fact
from finray.filings.html.pages import HtmlPage, hidden_id
from finray.filings.html.table_text import row_cells
from finray.filings.html.tree import Element, one_line
from finray.filings.tables.cells import parse_number
from finray.filings.tables.tags import Context, Tags, in_unit, item_unit, part_of, words_of_name

MAX_SENTENCE = 300
FIRST_ROW = 10_000
"""Row number of the first fact in prose, above those of any page's tables."""
_BLOCKS = ("p", "div", "td", "li")


def concept_name(concept: str) -> str:
    """ "us-gaap:OtherAccruedLiabilitiesCurrent" as words: "Other accrued liabilities current"."""
    return " ".join(word if word.isupper() else word.lower() for word in words_of_name(concept)).capitalize()


def facts_beside_tables(
    root: Element, pages: Sequence[HtmlPage], tags: Tags, read: Iterable[LineItem]
) -> list[LineItem]:
    """The tagged numbers of a document, each once, that are not among the line items ``read`` from its tables.

    ``label`` is the concept's name in words, ``caption`` the sentence or table row around the number. A hidden number
    (``ix:hidden``) counts on the page of the text that stands for it (``-sec-ix-hidden``, EDGAR Filer Manual volume II,
    section 5.2.5.14); without such text it has no page and is left out.
    """
    known: set[tuple[str | None, dt.date | None, int | None, str, str]] = {_key(item) for item in read if item.concept}
    hidden = {element.get("id"): element for header in root.iter("ix:hidden") for element in header.iter(TAGGED_NUMBER)}
    texts = _Texts()
    items: list[LineItem] = []
    for number, page in enumerate(pages):
        for element in page.tagged:
            tag = element if element.tag == TAGGED_NUMBER else hidden.get(hidden_id(element))
            fact = None if tag is None else numeric_fact(tag, tags.units)
            context = None if fact is None else tags.contexts.get(fact.context)
            if fact is None or context is None:
                continue
            unit, part = item_unit(fact.unit, fact.scale), part_of(context)
            key = (fact.concept, context.end, context.months, unit, f"[{part}]" if part else "")
            if key not in known:
                known.add(key)
                items.append(_item(fact, context, number, FIRST_ROW + len(items), element, texts))
    return items


def _key(item: LineItem) -> tuple[str | None, dt.date | None, int | None, str, str]:
    """Concept, period, unit and part of the company."""
    label = item.column_label or ""
    part = label[label.rfind("[") :] if label.endswith("]") else ""
    return item.concept, item.period_end, item.months, item.unit, part


class _Texts:
    """Caches the text of the last element: the facts of one paragraph follow each other."""

    def __init__(self) -> None:
        self._element: Element | None = None
        self._text = ""

    def of(self, element: Element) -> str:
        if element is not self._element:
            self._element, self._text = element, one_line(element)
        return self._text


def _item(fact: NumericFact, context: Context, page: int, row: int, printed: Element, texts: _Texts) -> LineItem:
    unit = item_unit(fact.unit, fact.scale)
    value = in_unit(fact.value, unit)
    return LineItem(
        page=page,
        statement=None,
        label=concept_name(fact.concept),
        value=value,
        text=one_line(printed),
        unit=unit,
        scale=1 if unit == "percent" else 10 ** max(fact.scale, 0),
        period_end=context.end,
        months=context.months,
        row=row,
        concept=fact.concept,
        column_label=f"[{part}]" if (part := part_of(context)) else None,
        caption=_sentence(printed, texts),
        tagged=value,
    )


def _sentence(element: Element, texts: _Texts) -> str | None:
    """The text around a number, at most 300 characters of its paragraph; the row of the table if it fills a cell."""
    block = next(element.iterancestors(*_BLOCKS), None)
    if block is None:
        return None
    text, printed = texts.of(block), one_line(element)
    row = next(element.iterancestors("tr"), None)
    if row is not None and parse_number(text) is not None:
        text = " | ".join(row_cells(row))
    at = max(text.find(printed), 0)
    start = max(0, min(at - MAX_SENTENCE // 2, len(text) - MAX_SENTENCE))
    return text[start : start + MAX_SENTENCE] or None

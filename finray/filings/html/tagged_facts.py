"""Line items from inline XBRL that no table prints: tagged numbers in sentences and row labels."""

from collections.abc import Sequence

from finray.core.filing import LineItem
from finray.filings.html.inline_xbrl import TAGGED_NUMBER, NumericFact, numeric_fact
from finray.filings.html.pages import HtmlPage
from finray.filings.html.tree import Element, one_line
from finray.filings.tables.cells import parse_number
from finray.filings.tables.tags import Context, Tags, part_of, words_of_name

MAX_SENTENCE = 300
FIRST_ROW = 10_000
"""Row number of the first fact in prose, above those of any page's tables."""
_BLOCKS = ("p", "div", "td", "li")
_UNITS = {"shares": "shares", "pure": "pure"}


def concept_name(concept: str) -> str:
    """ "us-gaap:OtherAccruedLiabilitiesCurrent" as words: "Other accrued liabilities current"."""
    return " ".join(word if word.isupper() else word.lower() for word in words_of_name(concept)).capitalize()


def facts_in_prose(root: Element, pages: Sequence[HtmlPage], tags: Tags) -> list[LineItem]:
    """Tagged numbers that no table cell prints alone, each once: those in sentences and row labels ("net of allowances
    of $14").

    ``label`` is the concept's name in words, ``caption`` the sentence around the number.
    """
    page_of = {element: number for number, page in enumerate(pages) for element in page.tagged}
    texts = _Texts()
    known = {_key(element) for element in page_of if _is_cell(element, texts)}
    items: list[LineItem] = []
    for element in root.iter(TAGGED_NUMBER):
        page, key = page_of.get(element), _key(element)
        context = tags.contexts.get(key[1])
        if page is None or context is None or key in known:
            continue
        fact = numeric_fact(element, tags.units)
        if fact is None:
            continue
        known.add(key)
        items.append(_item(fact, context, page, FIRST_ROW + len(items), texts))
    return items


def _key(element: Element) -> tuple[str, str]:
    """(concept, context) of a tagged number."""
    return element.get("name") or "", element.get("contextref") or ""


class _Texts:
    """Caches the text of the last element: the facts of one paragraph follow each other."""

    def __init__(self) -> None:
        self._element: Element | None = None
        self._text = ""

    def of(self, element: Element) -> str:
        if element is not self._element:
            self._element, self._text = element, one_line(element)
        return self._text


def _item(fact: NumericFact, context: Context, page: int, row: int, texts: _Texts) -> LineItem:
    percent = fact.unit == "pure" and fact.scale == -2
    unit = "percent" if percent else _UNITS.get(fact.unit, fact.unit.upper().replace("/SHARES", "/share"))
    return LineItem(
        page=page,
        statement=None,
        label=concept_name(fact.concept),
        value=fact.value * 100 if percent else fact.value,
        text=one_line(fact.element),
        unit=unit,
        scale=1 if percent else max(1, round(10.0**fact.scale)),
        period_end=context.end,
        months=context.months,
        row=row,
        concept=fact.concept,
        column_label=f"[{part}]" if (part := part_of(context)) else None,
        caption=_sentence(fact.element, texts),
    )


def _is_cell(element: Element, texts: _Texts) -> bool:
    """Whether a tagged number fills a table cell."""
    cell = next(element.iterancestors("td", "th"), None)
    if cell is None:
        return False
    text = texts.of(cell)
    return parse_number(text) is not None or parse_number(text.strip("$()% ")) is not None


def _sentence(element: Element, texts: _Texts) -> str | None:
    """The text around a number, at most 300 characters of its paragraph."""
    block = next(element.iterancestors(*_BLOCKS), None)
    if block is None:
        return None
    text, printed = texts.of(block), one_line(element)
    at = max(text.find(printed), 0)
    start = max(0, min(at - MAX_SENTENCE // 2, len(text) - MAX_SENTENCE))
    return text[start : start + MAX_SENTENCE] or None

"""Footnote marks in HTML: <sup>, raised or small <font> and <span>.

A mark beside a figure would read as its last digit. In the text of a page it becomes a superscript character behind a
space; ``table_grid`` leaves marked elements out of cells.
"""

from __future__ import annotations

import re
from typing import cast

from lxml import etree

from finray.filings.html.inline_xbrl import TAGGED_NUMBER
from finray.filings.html.tree import Element, text_content
from finray.filings.tables.marks import is_mark, is_power, raised

MARKED = "finray-mark"
"""Attribute of the elements that are footnote marks."""
_SUPERSCRIPTS = etree.XPath("descendant::sup")
_LONGEST = 16
"""Characters; a longer text is not a mark."""
_INLINE = frozenset(("a", "b", "em", "font", "i", "ix:nonfraction", "ix:nonnumeric", "small", "span", "strong", "u"))
_RAISED = re.compile(
    r"vertical-align\s{0,4}:\s{0,4}(?:super|text-top|top|\d)|(?<![\w-])top\s{0,4}:\s{0,4}-|"
    r"(?<![\w-])bottom\s{0,4}:\s{0,4}\d",
    re.IGNORECASE,
)
_SIZE = re.compile(
    r"(?<![\w-])font(?:-size)?\s{0,4}:[^;:]{0,60}?(?<![\w.])(?P<size>\d{1,3}(?:\.\d{1,6})?|\.\d{1,6})(?P<unit>pt|px|em|%)",
    re.IGNORECASE,
)
_POINTS = {"pt": 1.0, "px": 0.75}
_SHARES = {"em": 1.0, "%": 0.01}
_FONT_SIZES = {"1": 7.5, "2": 10.0, "3": 12.0, "4": 13.5, "5": 18.0, "6": 24.0, "7": 36.0}
SMALL = 0.8
"""A mark's size is less than this share of the text before it."""
_MAX_STYLE = 1_000
_MAX_DEPTH = 6


def mark_raised(root: Element) -> None:
    """Marks the elements that are footnote marks, and writes those without parentheses in superscript characters."""
    for element in cast(list[Element], _SUPERSCRIPTS(root)):
        _mark(element, sure=True)
    for element in root.iter("span", "font", "small"):
        text = element.text
        if text is not None and len(text) <= _LONGEST and not len(element) and is_mark(text):
            _mark(element, sure=False)


def _mark(element: Element, *, sure: bool) -> None:
    """Marks ``element`` if it is a mark; unless ``sure``, only if its style raises it or makes it small."""
    text = text_content(element)
    if not is_mark(text) or element.get(MARKED) is not None:
        return
    if next(element.iter(TAGGED_NUMBER), None) is not None:
        return
    before, around = _before(element)
    if not sure and not (before and before[-1] not in "$€£¥(" and _is_raised(element, around)):
        return
    power = is_power(before, text)
    if not power:
        element.set(MARKED, "")
    if "(" in text:
        return
    glue = " " if before and before[-1] not in "(¹²³" and not power else ""
    for node in element.iter():
        if node.text and node.text.strip():
            node.text, glue = glue + raised(node.text.strip()), ""


def _before(element: Element) -> tuple[str, Element | None]:
    """The text right before ``element`` in its block, and the element that it stands in; "" if there is none."""
    for _ in range(_MAX_DEPTH):
        previous, parent = element.getprevious(), element.getparent()
        text = (previous.tail if previous is not None else parent.text if parent is not None else "") or ""
        if text.strip():
            return text.rstrip(), parent
        if previous is not None:
            inside = text_content(previous) if isinstance(previous.tag, str) and previous.tag in _BEFORE else ""
            return inside.rstrip(), previous
        if parent is None or parent.tag not in _INLINE:
            return "", None
        element = parent
    return "", None


_BEFORE = _INLINE | {"sup"}


def _is_raised(element: Element, around: Element | None) -> bool:
    """Whether its style raises ``element``, or its letters are small beside those of the text ``around``."""
    if _RAISED.search((element.get("style") or "")[:_MAX_STYLE]):
        return True
    own = _size(element)
    if own is None:
        return element.tag == "small"
    size, share = own
    if share:
        return size < SMALL
    beside = _size_around(around)
    return beside is not None and size < SMALL * beside


def _size_around(element: Element | None) -> float | None:
    """The size of the letters in ``element`` in points, by the nearest element that gives one; None if unknown."""
    if element is not None and not _size(element) and len(element) and element.tag in _INLINE:
        element = element[-1]
    for _ in range(2 * _MAX_DEPTH):
        if element is None:
            return None
        found = _size(element)
        if found is not None and not found[1]:
            return found[0]
        element = element.getparent()
    return None


def _size(element: Element) -> tuple[float, bool] | None:
    """The size that ``element`` gives its letters, and whether it is a share of those around it; None if it gives
    none."""
    if (style := element.get("style")) and (match := _SIZE.search(style[:_MAX_STYLE])):
        unit = match["unit"].lower()
        return float(match["size"]) * (_POINTS.get(unit) or _SHARES[unit]), unit in _SHARES
    if (size := element.get("size")) and element.tag == "font":
        points = _FONT_SIZES.get(size.strip())
        return (points, False) if points else ((0.75, True) if size.strip().startswith("-") else None)
    return None

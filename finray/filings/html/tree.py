"""Elements of a parsed HTML document: plain XML elements. lxml looks up a Python class for each HTML element that is
touched, which takes a fifteenth of the time of reading a filing."""

from __future__ import annotations

from lxml import etree

Element = etree._Element
_STRING = etree.XPath("string()")


def text_content(element: Element) -> str:
    """All text inside ``element``, without comments."""
    return str(_STRING(element)) if len(element) else element.text or ""


def one_line(element: Element) -> str:
    """All text inside ``element``, with single spaces for white space."""
    return " ".join(text_content(element).split())

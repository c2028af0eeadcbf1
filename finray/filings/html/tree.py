"""Elements of a parsed HTML document. lxml's own HTML elements look up a Python class for each one that is touched,
which takes a fifteenth of the time of reading a filing, so these are plain ones."""

from __future__ import annotations

from lxml import etree

Element = etree._Element
_STRING = etree.XPath("string()")


def text_content(element: Element) -> str:
    """All text inside ``element``, without comments."""
    return str(_STRING(element))

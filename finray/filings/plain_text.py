"""Plain-text EDGAR documents (1990s to about 2001): pages end at <PAGE> tags or form feeds."""

import re
from dataclasses import dataclass

_BREAK = re.compile(r"<PAGE>[^\S\n]{0,20}\d{0,4}|\f", re.IGNORECASE)
_TABLE_TAGS = re.compile(r"</?(?:TABLE|CAPTION|S|C|F\d{0,2}|FN)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TypedPage:
    """A page as it is read, and as it was ``typed``, with its table tags."""

    text: str
    typed: str


def typed_pages(text: str) -> list[TypedPage]:
    """The pages of a plain-text document without blank ones. Their text has no table tags; columns stay as typed."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    pages = (TypedPage(_without_tags(page), page) for page in _BREAK.split(text) if page.strip())
    return [page for page in pages if page.text]


def split_text_pages(text: str) -> list[str]:
    """The texts of ``typed_pages``."""
    return [page.text for page in typed_pages(text)]


def _without_tags(page: str) -> str:
    return "\n".join(line.rstrip() for line in _TABLE_TAGS.sub("", page).split("\n")).strip("\n")

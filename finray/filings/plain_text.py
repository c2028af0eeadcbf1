"""Plain-text EDGAR documents (1990s to about 2001): pages end at <PAGE> tags or form feeds."""

import re

_BREAK = re.compile(r"<PAGE>[^\S\n]{0,20}\d{0,4}|\f", re.IGNORECASE)
_TABLE_TAGS = re.compile(r"</?(?:TABLE|CAPTION|S|C|F\d{0,2}|FN)>", re.IGNORECASE)


def split_text_pages(text: str) -> list[str]:
    """The pages of a plain-text document without blank ones. Table tags are dropped; columns stay as typed."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    pages = ("\n".join(line.rstrip() for line in _TABLE_TAGS.sub("", page).split("\n")) for page in _BREAK.split(text))
    return [page.strip("\n") for page in pages if page.strip()]

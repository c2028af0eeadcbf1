"""Cuts pages into overlapping chunks of at most ``size`` characters (HiREC, appendix C.1) or tokens (arXiv 2602.17981).

A token is a word of up to 12 letters, up to three digits, or another character. It is not that of a model, because
pages are cut in processes that load no model.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from finray.core.filing import Chunk, Page
from finray.core.settings import ChunkSettings

_TOKEN = re.compile(r"[^\W\d_]{1,12}|\d{1,3}|_|[^\w\s]")
_SEPARATORS = ("\n\n", "\n", ". ", " ")
"""Best places for a cut, in the order of a recursive splitter: paragraph, line, sentence, word."""


def chunk_pages(pages: Iterable[Page], settings: ChunkSettings) -> tuple[Chunk, ...]:
    """The chunks of all pages, in order."""
    return tuple(chunk for page in pages for chunk in chunk_page(page, settings))


def chunk_page(page: Page, settings: ChunkSettings) -> tuple[Chunk, ...]:
    """Chunks of one page, in order; ``chunk.text == page.text[chunk.start:chunk.end]``.

    No chunk is only whitespace, and every other character of the page is in a chunk.
    """
    text = page.text
    ruler = _Tokens(text) if settings.unit == "tokens" else _Characters()
    return tuple(
        Chunk(page=page.page, start=start, end=end, text=text[start:end])
        for start, end in _spans(text, settings.size, min(settings.overlap, settings.size // 2), ruler)
    )


class _Characters:
    """Places in a text by their distance in characters."""

    def after(self, place: int, units: int) -> int:
        return place + units

    def before(self, place: int, units: int) -> int:
        return place - units


class _Tokens:
    """Places in a text by their distance in tokens; a place is the start of a token or the end of the text."""

    def __init__(self, text: str) -> None:
        self._starts = [*(match.start() for match in _TOKEN.finditer(text)), len(text)]

    def after(self, place: int, units: int) -> int:
        return self._starts[min(bisect_left(self._starts, place) + units, len(self._starts) - 1)]

    def before(self, place: int, units: int) -> int:
        return self._starts[max(bisect_left(self._starts, place) - units, 0)]


def _spans(text: str, size: int, overlap: int, ruler: _Characters | _Tokens) -> Iterator[tuple[int, int]]:
    last = len(text)
    while last and text[last - 1].isspace():
        last -= 1
    start = 0
    while start < last:
        while text[start].isspace():
            start += 1
        limit = ruler.after(start, size)
        end = last if last <= limit else _cut(text, ruler.after(start, size // 2), limit)
        stop = end
        while text[stop - 1].isspace():
            stop -= 1
        yield start, stop
        if end == last:
            return
        start = max(start + 1, _overlap_start(text, ruler.before(end, overlap), end))


def _cut(text: str, half: int, limit: int) -> int:
    """End of a chunk: after the last of the best separator between ``half`` and ``limit``, else ``limit``."""
    for separator in _SEPARATORS:
        at = text.rfind(separator, half, limit)
        if at >= 0:
            return at + len(separator)
    return limit


def _overlap_start(text: str, start: int, end: int) -> int:
    """Start of the next chunk: the first word boundary between ``start`` and ``end``, else ``start``."""
    for at in range(start, end):
        if text[at - 1].isspace():
            return at
    return start if start < end else end

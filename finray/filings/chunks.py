"""Cuts pages into chunks of at most ``size`` characters with ``overlap`` between neighbors (HiREC, appendix B)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from finray.core.settings import ChunkSettings
from finray.core.types import Chunk, Page

# Best places for a cut, in the order of a recursive splitter: paragraph, line, sentence, word.
_SEPARATORS = ("\n\n", "\n", ". ", " ")


def chunk_pages(pages: Iterable[Page], settings: ChunkSettings) -> tuple[Chunk, ...]:
    return tuple(chunk for page in pages for chunk in chunk_page(page, settings))


def chunk_page(page: Page, settings: ChunkSettings) -> tuple[Chunk, ...]:
    """Chunks of one page, in order; ``chunk.text == page.text[chunk.start:chunk.end]``.

    No chunk is only whitespace, and every other character of the page is in a chunk.
    """
    text = page.text
    return tuple(
        Chunk(page=page.page, start=start, end=end, text=text[start:end])
        for start, end in _spans(text, settings.size, min(settings.overlap, settings.size // 2))
    )


def _spans(text: str, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    last = len(text)
    while last and text[last - 1].isspace():
        last -= 1
    start = 0
    while start < last:
        while text[start].isspace():
            start += 1
        end = last if last - start <= size else _cut(text, start, start + size)
        stop = end
        while text[stop - 1].isspace():
            stop -= 1
        yield start, stop
        if end == last:
            return
        start = max(start + 1, _overlap_start(text, end - overlap, end))


def _cut(text: str, start: int, limit: int) -> int:
    """End of a chunk that begins at ``start``: after the best separator in its second half, at most ``limit``."""
    half = start + (limit - start) // 2
    for separator in _SEPARATORS:
        at = text.rfind(separator, half, limit)
        if at >= 0:
            return at + len(separator)
    return limit


def _overlap_start(text: str, start: int, end: int) -> int:
    """Start of the next chunk: the first word boundary in the overlap."""
    for at in range(start, end):
        if text[at - 1].isspace():
            return at
    return start if start < end else end

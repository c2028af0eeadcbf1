"""The process that draws one page. Reads the page's ``text`` and a ``Drawing`` as JSON and the PDF from stdin;
writes a PNG to stdout.

To locate ranges of the page's text, it aligns the words of the text with those that PyMuPDF finds. The text was read
from the same page, so most words match one to one, in order.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from finray.sandbox import reader

_MEMORY_BYTES = 2 * 1024**3
_MAX_PIXELS = 20_000_000
_MARK = {"color": None, "fill": (1.0, 0.87, 0.2), "fill_opacity": 0.35, "overlay": True}
_BOX = {"color": (0.85, 0.25, 0.1), "width": 1.2, "fill": (1.0, 0.6, 0.2), "fill_opacity": 0.3, "overlay": True}
_WORD = re.compile(r"\S+")

Word = tuple[float, float, float, float, str]


def main(arguments: Sequence[str]) -> None:
    seconds, demanded = arguments
    reader.leave_out_layout()
    import pymupdf  # noqa: F401  # import before confinement blocks opening its files

    reader.confine(seconds=float(seconds), memory_bytes=_MEMORY_BYTES, demanded=demanded == "demanded")
    request = json.loads(sys.stdin.buffer.readline())
    sys.stdout.buffer.write(png(sys.stdin.buffer.read(), request))


def png(pdf: bytes, request: dict[str, Any]) -> bytes:
    """The page with its marks as PNG bytes. Raises PyMuPDF's errors for broken input."""
    import pymupdf

    with pymupdf.open(stream=pdf, filetype="pdf") as document:  # type: ignore[no-untyped-call]
        page = document[int(request["page"])]
        words = [(w[0], w[1], w[2], w[3], w[4]) for w in page.get_text("words")]
        page.remove_rotation()
        for rect in rectangles(words, request["text"], request["ranges"]):
            page.draw_rect(rect, **_MARK)
        for box in request["boxes"]:
            x0, y0, x1, y1 = box
            page.draw_rect((x0 - 1, y0 - 1, x1 + 1, y1 + 1), **_BOX)
        area = page.rect.width * page.rect.height / 72**2
        dpi = min(int(request["dpi"]), int((_MAX_PIXELS / max(area, 0.01)) ** 0.5))
        image: bytes = page.get_pixmap(dpi=max(dpi, 1), alpha=False).tobytes("png")
        return image


def rectangles(words: list[Word], text: str, ranges: list[list[int]]) -> list[tuple[float, float, float, float]]:
    """The boxes of ``ranges`` of ``text`` among ``words`` (x0, y0, x1, y1, word), one rectangle per line."""
    if not ranges:
        return []
    tokens = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]
    wanted = {i for i, (start, end, _) in enumerate(tokens) if any(start < stop and end > at for at, stop in ranges)}
    matcher = difflib.SequenceMatcher(None, [token[2] for token in tokens], [word[4] for word in words], autojunk=False)
    found = [
        words[block.b + offset]
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
        if block.a + offset in wanted
    ]
    return _lines(found)


def _lines(words: list[Word]) -> list[tuple[float, float, float, float]]:
    """Merge neighboring words on one line into one rectangle."""
    lines: list[tuple[float, float, float, float]] = []
    for x0, y0, x1, y1, _ in words:
        if lines:
            left, top, right, bottom = lines[-1]
            same_line = abs(top - y0) < 2 and abs(bottom - y1) < 2
            if same_line and 0 <= x0 - right < 3 * (y1 - y0):
                lines[-1] = (left, min(top, y0), x1, max(bottom, y1))
                continue
        lines.append((x0, y0, x1, y1))
    return lines

"""Pages of PDF filings as PNG images with the evidence marked.

PyMuPDF is not thread-safe, and a PDF is hostile input to a large C library. So a separate process
(``finray.api.draw_page``) draws each image, without environment, files or network and with limits on time and memory.
It returns only pixels.
"""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import time
from dataclasses import asdict, dataclass

from finray.api.byte_cache import ByteCache
from finray.api.errors import ApiError, invalid, not_found
from finray.api.fair_threads import FairThreads
from finray.api.library import find
from finray.api.open_index import OpenIndex
from finray.core.errors import SourceError
from finray.core.filing import Filing
from finray.core.settings import SandboxSettings, Settings
from finray.sandbox import confined, pipes
from finray.storage.locations import read_bytes

DRAW_SECONDS = 20.0
MAX_MARKS = 64
_MAX_POINTS = 20_000.0
_MAX_IMAGE_BYTES = 128 * 1024**2


Range = tuple[int, int]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Drawing:
    """An image of ``page`` with ``ranges`` of the page's text and ``boxes`` (x0, y0, x1, y1) in PDF points marked."""

    page: int
    dpi: int
    ranges: tuple[Range, ...] = ()
    boxes: tuple[Box, ...] = ()


def read_range(text: str) -> Range:
    """Parse a range such as ``120-480``. Raises ApiError 422."""
    first, dash, last = text.partition("-")
    if dash and first.isdecimal() and last.isdecimal() and len(text) <= 20 and int(first) < int(last):
        return int(first), int(last)
    raise invalid("invalid_highlight", "'highlight' is START-END, characters of the page's text", "highlight")


def read_box(text: str) -> Box:
    """Parse a box such as ``72,100,540,112.5``. Raises ApiError 422."""
    problem = invalid("invalid_box", "'box' is X0,Y0,X1,Y1 in PDF points, X0 < X1 and Y0 < Y1", "box")
    try:
        x0, y0, x1, y1 = (float(part) for part in text[:200].split(","))
    except ValueError:
        raise problem from None
    if not all(math.isfinite(v) and abs(v) <= _MAX_POINTS for v in (x0, y0, x1, y1)) or x0 >= x1 or y0 >= y1:
        raise problem
    return x0, y0, x1, y1


class PageImages:
    """Draws a few images at a time, for the API keys in turn, and caches recent ones."""

    def __init__(self, settings: Settings) -> None:
        self._sandbox = settings.sandbox
        serving = settings.serving
        self._threads = FairThreads(
            "images", serving.image_processes, per_key=serving.max_concurrent, waiting=serving.max_waiting_reads
        )
        self._images, self._files = ByteCache(serving.cache_bytes), ByteCache(serving.cache_bytes)

    async def png(self, key: str, index: OpenIndex, filing_id: str, drawing: Drawing) -> bytes:
        """The image, for the API key named ``key``. Raises ApiError 404 if the page or its PDF is missing, 422 for
        marks outside the page, 429 for too many requests, 500 if drawing fails."""
        filing = find(index, filing_id)
        if (image := self._images.get((filing_id, filing.content_sha256, drawing))) is not None:
            return image
        return await self._threads.run(key, lambda: self._draw(index, filing, drawing))

    def forget(self) -> None:
        self._images.clear()
        self._files.clear()

    def close(self) -> None:
        self.forget()
        self._threads.close()

    def _draw(self, index: OpenIndex, filing: Filing, drawing: Drawing) -> bytes:
        cache_key = (filing.filing_id, filing.content_sha256, drawing)
        if (cached := self._images.get(cache_key)) is not None:  # an earlier job in the queue drew it
            return cached
        place = (filing.filing_id, drawing.page)
        text = index.reader.page_texts([place]).get(place)
        if text is None:
            raise not_found(f"filing {filing.filing_id!r} has no page {drawing.page}", "page")
        if any(end > len(text) for _, end in drawing.ranges):
            raise invalid("invalid_highlight", f"the page has {len(text)} characters", "highlight")
        content = self._content(filing.source_uri, filing.content_sha256)
        image = draw(content, drawing, text, self._sandbox)
        self._images.put(cache_key, image)
        return image

    def _content(self, uri: str, sha256: str) -> bytes:
        """The filing as it was indexed. ``uri`` comes from the index, not from a request."""
        cached = self._files.get((uri, sha256))
        if cached is not None:
            return cached
        try:
            content = read_bytes(uri)
        except SourceError:
            raise not_found("the source of this filing cannot be reached, so there is no image", "filing_id") from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise not_found("the source of this filing has changed since it was indexed", "filing_id")
        if not content[:1024].lstrip().startswith(b"%PDF-"):
            raise not_found("this filing is not a PDF, so there is no image of its pages; show its text", "filing_id")
        self._files.put((uri, sha256), content)
        return content


def draw(
    pdf: bytes, drawing: Drawing, text: str, sandbox: SandboxSettings | None = None, *, seconds: float = DRAW_SECONDS
) -> bytes:
    """PNG bytes of a page with ``text``. Raises ApiError 500 if drawing fails or takes more than ``seconds``."""
    demanded = "demanded" if sandbox is not None and confined.filter_demanded(sandbox) else "optional"
    request = json.dumps({"text": text, **asdict(drawing)}).encode() + b"\n"
    deadline = time.monotonic() + seconds
    child = confined.start(confined.command("finray.api.draw_page", str(math.ceil(seconds)), demanded))
    try:
        pipes.send(child.stdin, (request, pdf), deadline)
        assert child.stdin is not None
        child.stdin.close()
        image = pipes.receive(child.stdout, _MAX_IMAGE_BYTES, deadline)
        status = child.wait(max(0.0, deadline - time.monotonic()))
    except (TimeoutError, BrokenPipeError, subprocess.TimeoutExpired):
        status, image = 1, b""
    finally:
        confined.end(child)
    if status or not image.startswith(b"\x89PNG"):
        raise ApiError(500, "image_failed", "the image of this page could not be drawn")
    return image

"""SVG elements of the diagrams.

A page embeds each diagram as an image file, so the file has its own style, for light and dark mode.
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap
from xml.sax.saxutils import escape, quoteattr

_STYLE = """
:root{--page:#fff;--ink:#1f2933;--soft:#5b6773;--band:#f3f5f8;--line:#c5ced8;--accent:#2f5fb3;--shade:#e6eaef;--wrong:#c62828}
@media (prefers-color-scheme:dark){
:root{--page:#1e2129;--ink:#e4e8ee;--soft:#a5b0bd;--band:#262b36;--line:#4c5666;--accent:#8ab4f8;--shade:#333a47;--wrong:#ff8a80}}
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--ink)}
.name{font:600 13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.soft{fill:var(--soft)}.small{font-size:11px}.end{text-anchor:end}.middle{text-anchor:middle}
.page{fill:var(--page)}.band{fill:var(--band)}.shade{fill:var(--shade)}.line,.guide{stroke:var(--line);fill:none}.guide{stroke-width:.5}
.dot{fill:var(--accent)}.wrong{fill:var(--wrong)}.path{stroke:var(--accent);stroke-width:2;fill:none;stroke-linejoin:round}
"""


def picture(width: int, height: int, title: str, description: str, elements: Iterable[str]) -> str:
    """A complete SVG document. ``title`` and ``description`` are for screen readers."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="title description">'
    )
    names = f'<title id="title">{escape(title)}</title>\n<desc id="description">{escape(description)}</desc>'
    background = box(0, 0, width, height, "page")
    return "\n".join([head, names, f"<style>{_STYLE}</style>", background, *elements, "</svg>"]) + "\n"


def text(x: float, y: float, content: str, kind: str = "", *, turned: int = 0) -> str:
    """A text element with baseline ``y``, rotated by ``turned`` degrees around its start."""
    turn = f' transform="rotate({turned} {x:g} {y:g})"' if turned else ""
    return f'<text x="{x:g}" y="{y:g}" class={quoteattr(kind)}{turn}>{escape(content)}</text>'


def lines(x: float, y: float, content: str, characters: int, kind: str = "", *, leading: float = 14) -> list[str]:
    """``content`` wrapped to ``characters`` per line and centered on ``y``."""
    parts = wrap(content, characters)
    top = y - leading * (len(parts) - 1) / 2
    return [text(x, top + leading * number, part, kind) for number, part in enumerate(parts)]


def box(x: float, y: float, width: float, height: float, kind: str, *, round_: float = 4) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_:g}" class="{kind}"/>'


def dot(x: float, y: float, radius: float, kind: str = "dot") -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="{kind}"/>'


def line(points: Iterable[tuple[float, float]], kind: str = "line") -> str:
    joined = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline points="{joined}" class="{kind}"/>'

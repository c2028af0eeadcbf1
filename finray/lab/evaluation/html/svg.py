"""Small charts as inline SVG: pure functions from numbers to markup.

Colors and fonts come from the page's style sheet by class (``run-0`` for the first series), so one drawing fits light
mode, dark mode and print. An XML tree escapes the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from markupsafe import Markup

_WIDTH, _HEIGHT = 440, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 12, 44
_DODGE = 3.0
"""Pixels between the error bars of two runs at the same x."""
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_CORNERS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),  # a circle
    ((-4, -4), (4, -4), (4, 4), (-4, 4)),
    ((0, -5), (5, 4), (-5, 4)),
    ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)),
    ((-5, -4), (5, -4), (0, 5)),
    ((-1.5, -5), (1.5, -5), (1.5, 5), (-1.5, 5)),
    ((-5, -1.5), (5, -1.5), (5, 1.5), (-5, 1.5)),
    ((-5, 0), (4, -5), (4, 5)),
)
_STYLE = (
    "svg{background:#fff;font:12px sans-serif;fill:#40474f}.series{color:#0b62b8;stroke:currentColor}"
    ".run-1{color:#c2410c}.run-2{color:#15803d}.run-3{color:#7e22ce}.line{fill:none;stroke-width:2}"
    ".dot{fill:currentColor;stroke:#fff}.grid,.base{stroke:#dcdfe3}.diagonal{stroke:#8a929c;stroke-dasharray:4 4}"
    "text{stroke:none}"
)
"""Colors of a chart outside of a report."""
N_STYLES = len(_CORNERS)
"""Further series reuse colors and markers."""


@dataclass(frozen=True, slots=True)
class Point:
    """``y`` in [0, 1]; ``low`` and ``high`` draw an error bar; ``label`` is the point's tooltip."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """``ticks`` are (position, text); ``log`` spaces positions by their logarithm."""

    label: str
    ticks: tuple[tuple[float, str], ...]
    low: float
    high: float
    log: bool = False

    def place(self, start: float, end: float) -> Callable[[float], float]:
        """A function from values to pixels between ``start`` and ``end``."""
        scale: Callable[[float], float] = math.log if self.log else float
        low, high = scale(self.low), scale(self.high)
        span = (high - low) or 1.0
        return lambda value: start + (scale(value) - low) / span * (end - start)


SHARE = Axis("", tuple((value, f"{value:.2f}".rstrip("0").rstrip(".")) for value in _QUARTERS), 0.0, 1.0)


def standalone(chart: Markup) -> str:
    """An SVG file of a chart, with its own colors."""
    opening, rest = str(chart).split(">", 1)
    size = f'width="{_WIDTH}" height="{_HEIGHT}"'
    return f'{opening} xmlns="http://www.w3.org/2000/svg" {size}><style>{_STYLE}</style>{rest}\n'


def line_chart(
    series: Sequence[Series],
    *,
    key: str,
    title: str,
    description: str,
    x: Axis,
    markers: bool = True,
    diagonal: bool = False,
) -> Markup:
    """Lines over ``x`` with y from 0 to 1, and a ``diagonal`` if both axes have the same unit. ``key`` makes ids unique
    in the page; ``description`` is for readers who cannot see the drawing."""
    to_x = x.place(_LEFT, _WIDTH - _RIGHT)
    to_y = SHARE.place(_HEIGHT - _BOTTOM, _TOP)
    root = _svg(key, title, description)
    _draw_axes(root, x, to_x, to_y)
    if diagonal:
        _line(root, to_x(x.low), to_y(0), to_x(x.high), to_y(1), "diagonal")
    middle = (len(series) - 1) / 2
    for number, one in enumerate(series):
        group = _add(root, "g", {"class": f"series run-{number % N_STYLES}"})
        shift = (number - middle) * _DODGE if markers else 0.0
        places = [(to_x(point.x) + shift, to_y(point.y)) for point in one.points]
        for point, (left, _) in zip(one.points, places, strict=True):
            if point.low is not None and point.high is not None:
                _line(group, left, to_y(point.low), left, to_y(point.high), "error")
        path = " ".join(f"{left:.1f},{top:.1f}" for left, top in places)
        _add(group, "polyline", {"points": path, "class": "line"})
        if markers:
            for point, (left, top) in zip(one.points, places, strict=True):
                _marker(group, number, left, top, point.label)
    return _markup(root)


def legend_mark(number: int) -> Markup:
    """Line and marker of series ``number`` for a legend; decoration, so hidden from screen readers."""
    root = ElementTree.Element("svg", {"class": "mark", "viewBox": "0 0 34 14", "aria-hidden": "true"})
    group = _add(root, "g", {"class": f"series run-{number % N_STYLES}"})
    _line(group, 1, 7, 33, 7, "line")
    _marker(group, number, 17, 7, "")
    return _markup(root)


def interval_bar(value: float, low: float, high: float, number: int) -> Markup:
    """A dot with its interval on a rule from 0 to 1, beside the printed figures; decoration."""
    root = ElementTree.Element(
        "svg", {"class": "interval", "viewBox": "0 0 100 12", "preserveAspectRatio": "xMinYMid", "aria-hidden": "true"}
    )
    group = _add(root, "g", {"class": f"series run-{number % N_STYLES}"})
    _line(group, 2, 6, 98, 6, "rule")
    to_x = SHARE.place(2, 98)
    _line(group, to_x(low), 6, to_x(high), 6, "error wide")
    _add(group, "circle", {"cx": f"{to_x(value):.1f}", "cy": "6", "r": "3.5", "class": "dot"})
    return _markup(root)


def stacked_bar(parts: Sequence[tuple[str, int, str]], *, key: str, title: str) -> Markup:
    """One bar split by (label, count, class); the legend and table beside it also show the counts."""
    total = sum(count for _, count, _ in parts) or 1
    described = ", ".join(f"{label} {count}" for label, count, _ in parts)
    root = _svg(key, title, described, size=(100, 10))
    root.set("class", "stack")
    root.set("preserveAspectRatio", "none")
    start = 0.0
    for label, count, style in parts:
        width = 100 * count / total
        part = _add(
            root, "rect", {"x": f"{start:.3f}", "y": "0", "width": f"{width:.3f}", "height": "10", "class": style}
        )
        _add(part, "title").text = f"{label}: {count} of {total}"
        start += width
    return _markup(root)


def _svg(key: str, title: str, description: str, size: tuple[int, int] = (_WIDTH, _HEIGHT)) -> ElementTree.Element:
    attributes = {
        "viewBox": f"0 0 {size[0]} {size[1]}", "class": "chart", "role": "img",
        "aria-labelledby": f"{key}-title {key}-description",
    }  # fmt: skip
    root = ElementTree.Element("svg", attributes)
    _add(root, "title", {"id": f"{key}-title"}).text = title
    _add(root, "desc", {"id": f"{key}-description"}).text = description
    return root


def _draw_axes(
    root: ElementTree.Element, x: Axis, to_x: Callable[[float], float], to_y: Callable[[float], float]
) -> None:
    axes = _add(root, "g", {"class": "axes"})
    for value, text in SHARE.ticks:
        _line(axes, _LEFT, to_y(value), _WIDTH - _RIGHT, to_y(value), "grid" if value else "base")
        _text(axes, text, _LEFT - 8, to_y(value) + 4, "end")
    for value, text in x.ticks:
        _line(axes, to_x(value), to_y(0), to_x(value), to_y(0) + 5, "base")
        _text(axes, text, to_x(value), to_y(0) + 19, "middle")
    _text(axes, x.label, (_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, "middle")


def _marker(parent: ElementTree.Element, number: int, x: float, y: float, label: str) -> None:
    """A distinct shape for each run, because color alone is not enough."""
    corners = _CORNERS[number % N_STYLES]
    if not corners:
        shape = _add(parent, "circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "4", "class": "dot"})
    else:
        points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
        shape = _add(parent, "polygon", {"points": points, "class": "dot"})
    if label:
        _add(shape, "title").text = label


def _line(parent: ElementTree.Element, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    _add(parent, "line", {name: f"{value:.1f}" for name, value in ends.items()} | {"class": style})


def _text(parent: ElementTree.Element, text: str, x: float, y: float, anchor: str) -> None:
    _add(parent, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}).text = text


def _add(parent: ElementTree.Element, tag: str, attributes: dict[str, str] | None = None) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes or {})


def _markup(root: ElementTree.Element) -> Markup:
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # the tree has escaped every text

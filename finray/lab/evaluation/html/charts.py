"""The report's figures: each is a drawing and a table of the same numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from finray.lab.evaluation.analysis import Analysis
from finray.lab.evaluation.curves import Curve
from finray.lab.evaluation.errors import ERRORS, LEVELS
from finray.lab.evaluation.html.labels import ERROR_STYLES, LEVEL_STYLES, interval, metric_label, share
from finray.lab.evaluation.html.svg import Axis, Point, Series, line_chart, stacked_bar
from finray.lab.evaluation.text_tables import NOTHING

Runs = Mapping[str, Analysis]


@dataclass(frozen=True, slots=True)
class Figure:
    """``head`` and ``rows`` are the drawing's numbers as a table."""

    title: str
    drawing: Markup
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Split:
    """One bar: (label, count, class) of each part that occurs."""

    name: str
    drawing: Markup
    parts: tuple[tuple[str, int, str], ...]
    total: int


def curves_over_k(runs: Runs) -> list[Figure]:
    """One figure for each metric with a curve in any run."""
    curves = {name: analysis.over_k for name, analysis in runs.items()}
    longest = max((len(curve) for by_metric in curves.values() for curve in by_metric.values()), default=0)
    ticks = [k for k in (1, 5, 10, 15, 20) if k <= longest]
    x = Axis("first k passages", tuple((float(k), str(k)) for k in ticks), 1.0, float(max(longest, 2)))
    return _curve_figures(curves, x, "k") if longest else []


def curves_over_iterations(runs: Runs) -> list[Figure]:
    """One figure for each metric; iteration 0 is the first retrieval. Empty if no run recorded its iterations."""
    curves = {name: analysis.over_iterations for name, analysis in runs.items()}
    last = max((max(curve) for by_metric in curves.values() for curve in by_metric.values()), default=0)
    ticks = tuple((float(number), str(number)) for number in range(last + 1))
    x = Axis("iterations of the loop (0: first retrieval)", ticks, 0.0, float(max(last, 1)))
    return _curve_figures(curves, x, "iteration") if last else []


def calibration_figure(runs: Runs) -> Figure | None:
    """Share of right answers over stated confidence, in bins of equal size; None if no run states any."""
    found = {name: analysis.evaluation.calibration for name, analysis in runs.items()}
    known = {name: calibration for name, calibration in found.items() if calibration is not None}
    if not known:
        return None
    series = [
        Series(
            name,
            tuple(
                Point(
                    b.confidence,
                    b.accuracy,
                    label=f"{name}: stated {share(b.confidence)}, right {share(b.accuracy)}, n {b.n}",
                )
                for b in known[name].bins
            )
            if name in known
            else (),
        )
        for name in runs
    ]
    title = "Right answers by stated confidence"
    ticks = tuple((value / 4, f"{value / 4:g}") for value in range(5))
    drawing = line_chart(
        series,
        key="calibration-chart",
        title=title,
        description="The table beside it has the figures.",
        x=Axis("stated confidence", ticks, 0.0, 1.0),
        diagonal=True,
    )
    rows = tuple(
        (name, share(c.ece), f"{c.brier:.3f}", f"{c.skill:+.2f}", share(c.accuracy), str(c.n))
        for name, c in known.items()
    )
    head = ("run", "calibration error", "Brier score", "Brier skill", "right", "n")
    return Figure(title, drawing, head, rows)


def latency_figure(runs: Runs) -> Figure | None:
    """Share of questions done within a time; None if nothing was timed."""
    times = {
        name: sorted(
            case.prediction.seconds
            for case in analysis.cases
            if case.prediction.status != "error" and case.prediction.seconds > 0
        )
        for name, analysis in runs.items()
    }
    every = [seconds for run in times.values() for seconds in run]
    if not every:
        return None
    x = _seconds_axis(min(every), max(every))
    series = [Series(name, _cumulative(run)) for name, run in times.items()]
    title = "Questions done within a time"
    rows = tuple(
        (name, *(f"{_quantile(run, q):.3f}" if run else NOTHING for q in (0.5, 0.9, 0.95, 1.0)), str(len(run)))
        for name, run in times.items()
    )
    drawing = line_chart(
        series,
        key="latency-chart",
        title=title,
        description="The table beside it has the figures.",
        x=x,
        markers=False,
    )
    return Figure(title, drawing, ("run", "half, s", "90%, s", "95%, s", "all, s", "n"), rows)


def error_splits(runs: Runs) -> list[Split]:
    return [
        _split(name, [(e, analysis.errors[e], ERROR_STYLES[e]) for e in ERRORS if e in analysis.errors], f"errors-{at}")
        for at, (name, analysis) in enumerate(runs.items())
    ]


def level_splits(runs: Runs) -> dict[int, list[Split]]:
    """For each k, a bar for each run; a k beyond the longest ranking is left out."""
    splits: dict[int, list[Split]] = {}
    for at, (name, analysis) in enumerate(runs.items()):
        for k, counts in analysis.levels.items():
            parts = [(level, counts[level], LEVEL_STYLES[level]) for level in LEVELS if level in counts]
            if parts and (k == 1 or k in analysis.over_k["page_recall"]):
                splits.setdefault(k, []).append(_split(name, parts, f"levels-{at}-{k}"))
    return splits


def _split(name: str, parts: Sequence[tuple[str, int, str]], key: str) -> Split:
    total = sum(count for _, count, _ in parts)
    return Split(name, stacked_bar(parts, key=key, title=f"{name}, {total} questions"), tuple(parts), total)


def _curve_figures(curves: Mapping[str, Mapping[str, Curve]], x: Axis, unit: str) -> list[Figure]:
    names = dict.fromkeys(metric for by_metric in curves.values() for metric in by_metric)
    return [
        _curve_figure(metric, {run: by_metric.get(metric, {}) for run, by_metric in curves.items()}, x, unit)
        for metric in names
    ]


def _curve_figure(metric: str, curves: Mapping[str, Curve], x: Axis, unit: str) -> Figure:
    """A run without points keeps its empty series, so that each run has the color that the legend shows."""
    title = metric_label(metric)
    series = [Series(run, _points(run, curve, unit)) for run, curve in curves.items()]
    curves = {run: curve for run, curve in curves.items() if curve}
    ends = []
    for run, curve in curves.items():
        first, last = min(curve), max(curve)
        ends.append(f"{run}: {share(curve[first].value)} at {unit} {first}, {share(curve[last].value)} at {last}")
    drawing = line_chart(series, key=f"{unit}-{metric}", title=title, description="; ".join(ends), x=x)
    xs = sorted({position for curve in curves.values() for position in curve})
    rows = tuple((str(position), *(_cell(curve, position) for curve in curves.values())) for position in xs)
    return Figure(title, drawing, (unit, *curves), rows)


def _points(run: str, curve: Curve, unit: str) -> tuple[Point, ...]:
    return tuple(
        Point(
            float(x), point.value, point.low, point.high,
            f"{run}, {unit} {x}: {share(point.value)}, interval {interval(point)}, n {point.n}",
        )
        for x, point in sorted(curve.items())
        if point.value is not None
    )  # fmt: skip


def _cell(curve: Curve, position: int) -> str:
    point = curve.get(position)
    return NOTHING if point is None else f"{share(point.value)} [{interval(point)}]"


def _cumulative(times: Sequence[float]) -> tuple[Point, ...]:
    """Steps of the empirical distribution, in at most some 400 points."""
    count = len(times)
    every = max(1, count // 200)
    points: list[Point] = []
    for number in range(0, count, every):
        done = min(count, number + every)
        points += [Point(times[done - 1], number / count), Point(times[done - 1], done / count)]
    return tuple(points)


def _quantile(times: Sequence[float], q: float) -> float:
    return times[max(0, math.ceil(q * len(times)) - 1)]


def _seconds_axis(low: float, high: float) -> Axis:
    """A logarithmic axis with ticks at 1, 2 and 5 of each decade; over many decades only at 1."""
    start, end = low * 0.9, high * 1.1
    decades = range(math.floor(math.log10(start)), math.ceil(math.log10(end)) + 1)
    digits = (1, 2, 5) if len(decades) <= 3 else (1,)
    ticks = [digit * 10.0**decade for decade in decades for digit in digits]
    return Axis("seconds", tuple((t, f"{t:g}") for t in ticks if start <= t <= end), start, end, log=True)

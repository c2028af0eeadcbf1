"""Drawings: where the numbers land, what a screen reader is told, and that text stays text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.lab.evaluation.html.svg import (
    N_STYLES,
    Axis,
    Point,
    Series,
    interval_bar,
    legend_mark,
    line_chart,
    stacked_bar,
)

X = Axis("k", ((1.0, "1"), (5.0, "5")), 1.0, 5.0)
shares = st.floats(0, 1)


def chart(*series: Series, title: str = "Recall", markers: bool = True) -> ElementTree.Element:
    drawing = line_chart(series, key="c", title=title, description="it rises", x=X, markers=markers)
    return ElementTree.fromstring(drawing)


def points(root: ElementTree.Element) -> list[list[tuple[float, float]]]:
    lines = (line.get("points") or "" for line in root.iter("polyline"))
    return [[(float(x), float(y)) for x, y in (pair.split(",") for pair in line.split())] for line in lines]


def test_more_is_higher_and_later_is_further_right() -> None:
    ((first, second),) = points(chart(Series("run", (Point(1, 0.2), Point(5, 0.9)))))
    assert first[0] < second[0]
    assert first[1] > second[1]


def test_the_ends_of_the_axes_are_the_ends_of_the_drawing() -> None:
    root = chart(Series("run", (Point(1, 0.0), Point(5, 1.0))))
    grid = [float(line.get("y1") or 0) for line in root.iter("line") if line.get("class") in ("grid", "base")]
    ((low, high),) = points(root)
    assert (low[1], high[1]) == (max(y for y in grid if y <= low[1]), min(grid))


def test_a_logarithmic_axis() -> None:
    place = Axis("s", (), 0.01, 1.0, log=True).place(0, 100)
    assert place(0.1) == pytest.approx(50)
    assert Axis("s", (), 2.0, 2.0).place(0, 100)(2.0) == 0


def test_error_bars_span_the_interval_and_runs_do_not_hide_each_other() -> None:
    one = Series("one", (Point(1, 0.5, 0.4, 0.6),))
    root = chart(one, Series("two", one.points))
    bars = [line for line in root.iter("line") if line.get("class") == "error"]
    assert len(bars) == 2
    assert bars[0].get("x1") != bars[1].get("x1")
    assert all(float(bar.get("y1") or 0) > float(bar.get("y2") or 0) for bar in bars)


def test_a_reader_who_cannot_see_it_is_told() -> None:
    root = chart(Series("run", (Point(1, 0.5, label="run, k 1: 0.5"),)))
    assert root.get("role") == "img"
    assert [(e.tag, e.get("id"), e.text) for e in list(root)[:2]] == [
        ("title", "c-title", "Recall"),
        ("desc", "c-description", "it rises"),
    ]
    assert root.get("aria-labelledby") == "c-title c-description"
    assert [e.text for e in root.iter("title")] == ["Recall", "run, k 1: 0.5"]


def test_every_run_has_a_marker_of_its_own() -> None:
    marks = [str(legend_mark(number)).replace(f"run-{number}", "") for number in range(N_STYLES)]
    assert len(set(marks)) == N_STYLES
    assert 'aria-hidden="true"' in marks[0]


def test_parts_of_a_bar_add_up() -> None:
    drawing = stacked_bar([("right", 3, "good"), ("wrong", 1, "failed")], key="b", title="4 questions")
    parts = list(ElementTree.fromstring(drawing).iter("rect"))
    assert [part.get("width") for part in parts] == ["75.000", "25.000"]
    assert [part.get("x") for part in parts] == ["0.000", "75.000"]
    assert "right 3, wrong 1" in drawing
    assert "right: 3 of 4" in drawing
    assert list(ElementTree.fromstring(stacked_bar([], key="b", title="none")).iter("rect")) == []


@given(shares, shares, shares, st.integers(0, 20))
def test_an_interval_stays_in_its_frame(value: float, low: float, high: float, number: int) -> None:
    root = ElementTree.fromstring(interval_bar(value, low, high, number))
    placed = [float(e.get(name) or 0) for e in root.iter() for name in ("x1", "x2", "cx") if e.get(name)]
    assert all(0 <= x <= 100 for x in placed)


@given(st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")))
def test_text_stays_text(text: str) -> None:
    root = chart(Series(text, (Point(1, 0.5, label=text),)), title=text)
    assert root[0].text == (text or None)
    assert len(list(root)) == 4

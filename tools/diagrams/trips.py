"""Diagrams of the trips of a filing and of a question through the rooms, as listed in trips.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from tools.diagrams import svg

TRIPS = Path(__file__).with_name("trips.toml")
_LANE, _ROW, _HEAD, _LEFT, _LABEL = 30, 40, 70, 34, 500


@dataclass(frozen=True, slots=True)
class Stop:
    """A function on the trip: ``at`` is ``module:name``, ``does`` describes it."""

    at: str
    does: str

    @property
    def room(self) -> str:
        return self.at.partition(":")[0].split(".")[1]

    @property
    def name(self) -> str:
        return self.at.partition(":")[2]

    @property
    def file(self) -> str:
        """The path of the module below finray/."""
        return self.at.partition(":")[0].partition(".")[2].replace(".", "/") + ".py"

    @property
    def is_protocol(self) -> bool:
        """Whether ``at`` is a method of a Protocol, which represents its implementations."""
        return getattr(self._found(self.name.rpartition(".")[0]), "_is_protocol", False)

    def function(self) -> FunctionType:
        """The function. Raises ValueError if it is missing, because it was moved or renamed."""
        found = self._found(self.name)
        if not isinstance(found, FunctionType):
            raise ValueError(f"{TRIPS.name}: {self.at} is not a function")
        return found

    def _found(self, name: str) -> object:
        try:
            return reduce(getattr, filter(None, name.split(".")), import_module(self.at.partition(":")[0]))
        except (ImportError, AttributeError) as error:
            raise ValueError(f"{TRIPS.name}: no function {self.at}; update the trip") from error


@dataclass(frozen=True, slots=True)
class Trip:
    """``loop`` is (first stop, last stop, label) of the part that repeats."""

    title: str
    stops: tuple[Stop, ...]
    loop: tuple[int, int, str] | None = None


def read_trip(name: str) -> Trip:
    """The trip called ``name``. Raises ValueError if one of its functions is missing."""
    table: dict[str, Any] = tomllib.loads(TRIPS.read_text(encoding="utf-8"))[name]
    stops = tuple(Stop(**stop) for stop in table["stops"])
    for stop in stops:
        stop.function()
    names = [stop.at for stop in stops]
    loop = table.get("loop")
    repeated = (names.index(loop["first"]), names.index(loop["last"]), loop["label"]) if loop else None
    return Trip(table["title"], stops, repeated)


def trip_picture(trip: Trip, order: tuple[str, ...]) -> str:
    """A diagram with a lane for each visited room, in ``order``; the path goes down from stop to stop."""
    visited = {stop.room for stop in trip.stops}
    lanes = {
        room: _LEFT + _LANE * (number + 0.5) for number, room in enumerate(each for each in order if each in visited)
    }
    names = _LEFT + _LANE * len(lanes) + 16
    width = names + _LABEL
    bottom = _HEAD + _ROW * len(trip.stops)
    points = [(lanes[stop.room], _HEAD + _ROW * (number + 0.5)) for number, stop in enumerate(trip.stops)]
    elements = [
        svg.box(0, _HEAD + _ROW * number, width, _ROW, "band", round_=0) for number in range(0, len(trip.stops), 2)
    ]
    elements += [svg.line([(x, _HEAD), (x, bottom)]) for x in lanes.values()]
    elements += [svg.text(x + 4, _HEAD - 8, room, "small soft", turned=-60) for room, x in lanes.items()]
    elements.append(svg.line(points, "path"))
    for stop, (x, y) in zip(trip.stops, points, strict=True):
        elements.append(svg.dot(x, y, 5))
        elements.append(svg.text(names, y - 4, stop.name, "name"))
        elements.append(svg.text(width - 10, y - 4, stop.file, "small soft end"))
        elements.append(svg.text(names, y + 12, stop.does, "soft"))
    if trip.loop is not None:
        elements += _loop_bracket(*trip.loop, [y for _, y in points])
    listed = "; ".join(f"{stop.room}, {stop.name}: {stop.does}" for stop in trip.stops)
    return svg.picture(width, bottom + 4, trip.title, f"From stop to stop: {listed}.", elements)


def _loop_bracket(first: int, last: int, label: str, heights: list[float]) -> list[str]:
    """A bracket in the left margin, with an arrow back up to the first stop of the loop."""
    top, low, x = heights[first], heights[last], _LEFT - 10
    return [
        svg.line([(x + 8, low), (x, low), (x, top), (x + 8, top)], "path"),
        svg.line([(x + 3, top - 4), (x + 8, top), (x + 3, top + 4)], "path"),
        svg.text(x - 8, (top + low) / 2, label, "small soft middle", turned=-90),
    ]

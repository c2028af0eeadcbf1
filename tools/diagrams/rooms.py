"""Diagram of the rooms of finray/ and their imports: layers come from pyproject.toml, imports from the source."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import grimp

from tools.diagrams import svg

ROOT = Path(__file__).resolve().parents[2]
_PURPOSE_ENDS = re.compile(r"[:;.](?=\s|$)| \(")
_ROW, _CELL, _GAP = 32, 21, 5
_HEAD, _PURPOSE, _MATRIX = 82, 112, 404


@dataclass(frozen=True, slots=True)
class Rooms:
    """``layers`` from top to bottom; ``imports`` as (importer, imported) names of rooms."""

    layers: tuple[tuple[str, ...], ...]
    purposes: dict[str, str]
    imports: frozenset[tuple[str, str]]

    @property
    def order(self) -> tuple[str, ...]:
        return tuple(room for layer in self.layers for room in layer)

    def upward(self) -> list[tuple[str, str]]:
        """Imports from a higher layer, or from another room in the same layer."""
        depth = {room: number for number, layer in enumerate(self.layers) for room in layer}
        return sorted((a, b) for a, b in self.imports if depth[b] <= depth[a])


def measured_rooms() -> Rooms:
    """The rooms from the contract in pyproject.toml and the source. Raises ValueError if a docstring is missing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (written,) = (contract["layers"] for contract in contracts if contract["id"] == "layers")
    layers = tuple(tuple(part.strip() for part in layer.split("|")) for layer in written)
    known = {room for layer in layers for room in layer}
    graph = grimp.build_graph("finray", cache_dir=None)
    imports = {
        (importer.split(".")[1], imported.split(".")[1])
        for importer in graph.modules - {"finray"}
        for imported in graph.find_modules_directly_imported_by(importer) - {"finray"}
    }
    return Rooms(
        layers,
        {room: _purpose(room) for room in known},
        frozenset((a, b) for a, b in imports if a != b and {a, b} <= known),
    )


def _purpose(room: str) -> str:
    """The first clause of the room's docstring."""
    folder = ROOT / "finray" / room
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not docstring:
        raise ValueError(f"{path} has no docstring: its first clause is the room's purpose on docs/architecture.md")
    return _PURPOSE_ENDS.split(" ".join(docstring.split()).replace("``", ""), maxsplit=1)[0]


def rooms_picture(rooms: Rooms) -> str:
    order = rooms.order
    across = {room: _MATRIX + _CELL * (number + 0.5) for number, room in enumerate(order)}
    width = _MATRIX + _CELL * len(order)
    bottom = _HEAD + _ROW * len(order) + _GAP * (len(rooms.layers) - 1)
    upward = set(rooms.upward())
    bands: list[str] = []
    content = [svg.text(across[room] + 4, _HEAD - 8, room, "small soft", turned=-60) for room in order]
    top = float(_HEAD)
    for layer in rooms.layers:
        height = _ROW * len(layer)
        bands.append(svg.box(0, top, width, height, "band"))
        # Dots to the left of the layer's own columns would be upward imports, dots in them imports from a neighbor.
        bands.append(svg.box(_MATRIX, top, _CELL * (order.index(layer[-1]) + 1), height, "shade"))
        for number, room in enumerate(layer):
            middle = top + _ROW * (number + 0.5)
            content.append(svg.text(12, middle + 4, room, "name"))
            content += svg.lines(_PURPOSE, middle + 4, rooms.purposes[room], 44, "soft", leading=13)
            for other in order:
                if (room, other) in rooms.imports:
                    content.append(svg.dot(across[other], middle, 5, "wrong" if (room, other) in upward else "dot"))
        top += height + _GAP
    guides = [svg.line([(x, _HEAD), (x, bottom)], "guide") for x in across.values()]
    key = "A dot: the room of this row imports the room of this column. The shaded half stays empty."
    return svg.picture(
        width + 14,
        bottom + 24,
        "The rooms of finray",
        "From top to bottom: " + "; ".join(f"{room}, {rooms.purposes[room]}" for room in order) + ". "
        "A matrix shows which room imports which: every import goes down.",
        [*bands, *guides, *content, svg.text(width, bottom + 17, key, "small soft end")],
    )

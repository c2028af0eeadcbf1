"""Entities and relations of one filing, and how a table stores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from finray.core.question_fields import single_spaced
from finray.core.readable import readable
from finray.models.encoder import Encoder, Vectors

MAX_NAME_CHARACTERS: Final = 120
MAX_TEXT_CHARACTERS: Final = 500
_EMBEDDED_CHARACTERS = 300
"""Longer texts are cut: their start says what they are about."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A node. ``pages`` name it, in the order in which they were read."""

    name: str
    kind: str
    text: str
    pages: tuple[int, ...]

    @property
    def embedded(self) -> str:
        return f"{self.name}\n{self.text}"[:_EMBEDDED_CHARACTERS]


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge. ``keywords`` name its theme, ``weight`` its strength."""

    source: str
    target: str
    text: str
    keywords: str
    weight: float
    pages: tuple[int, ...]

    @property
    def embedded(self) -> str:
        return f"{self.keywords}\t{self.source}\n{self.target}\n{self.text}"[:_EMBEDDED_CHARACTERS]


@dataclass(frozen=True, slots=True)
class FilingGraph:
    """``unusable`` are the pages about which a language model wrote nothing that can be used."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    unusable: tuple[int, ...] = ()


def node_key(name: str) -> str:
    """Names with the same key are one entity."""
    return single_spaced(name).casefold()


def cleaned(text: str, limit: int) -> str:
    """``text``, which a model or a filing wrote, on one line and at most ``limit`` characters long."""
    return single_spaced(readable(text))[:limit].strip()


def merged(entities: Iterable[Entity], relations: Iterable[Relation], unusable: Sequence[int] = ()) -> FilingGraph:
    """Merges entities of the same name and relations of the same pair: the longest text, all pages, the sum of weights.

    Relations of an entity with itself or with an unknown one are left out.
    """
    nodes: dict[str, Entity] = {}
    for entity in entities:
        key = node_key(entity.name)
        old = nodes.get(key, entity)
        pages = tuple(dict.fromkeys((*old.pages, *entity.pages)))
        nodes[key] = Entity(old.name, old.kind, max(old.text, entity.text, key=len), pages)
    edges: dict[tuple[str, str], Relation] = {}
    for relation in relations:
        first, second = sorted((node_key(relation.source), node_key(relation.target)))
        if first == second or first not in nodes or second not in nodes:
            continue
        known = edges.get((first, second))
        if known is None:
            edges[first, second] = relation
            continue
        edges[first, second] = Relation(
            known.source,
            known.target,
            max(known.text, relation.text, key=len),
            ", ".join(dict.fromkeys(filter(None, (known.keywords, relation.keywords))))[:MAX_TEXT_CHARACTERS],
            known.weight + relation.weight,
            tuple(dict.fromkeys((*known.pages, *relation.pages))),
        )
    return FilingGraph(tuple(nodes.values()), tuple(edges.values()), tuple(unusable))


_PAGES = pa.list_(pa.int32())
_ENTITIES = pa.list_(
    pa.struct([("name", pa.string()), ("kind", pa.string()), ("text", pa.string()), ("pages", _PAGES)])
)
_RELATIONS = pa.list_(
    pa.struct(
        [
            ("source", pa.string()),
            ("target", pa.string()),
            ("text", pa.string()),
            ("keywords", pa.string()),
            ("weight", pa.float32()),
            ("pages", _PAGES),
        ]
    )
)
COLUMNS: Final = ("entities", "relations", "unusable_pages", "vectors")


def graph_columns(graph: FilingGraph, encoder: Encoder) -> dict[str, pa.Array]:
    """One row; ``vectors`` are float16 bytes, those of the entities before those of the relations."""
    parts: list[Entity | Relation] = [*graph.entities, *graph.relations]
    vectors = encoder.encode_passages([part.embedded for part in parts]) if parts else np.empty((0, 0), np.float32)
    return {
        "entities": pa.array([[asdict(entity) for entity in graph.entities]], _ENTITIES),
        "relations": pa.array([[asdict(relation) for relation in graph.relations]], _RELATIONS),
        "unusable_pages": pa.array([list(graph.unusable)], _PAGES),
        "vectors": pa.array([vectors.astype(np.float16).tobytes()], pa.large_binary()),
    }


def graph_of_row(row: Mapping[str, Any], dimension: int) -> tuple[FilingGraph, Vectors]:
    """The graph, and the float32 vectors [entities + relations, dimension]."""
    entities = tuple(Entity(**{**entity, "pages": tuple(entity["pages"])}) for entity in row["entities"])
    relations = tuple(Relation(**{**relation, "pages": tuple(relation["pages"])}) for relation in row["relations"])
    vectors = np.frombuffer(row["vectors"], np.float16).astype(np.float32).reshape(-1, dimension)
    return FilingGraph(entities, relations, tuple(row["unusable_pages"])), vectors

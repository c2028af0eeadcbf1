"""Stores the trees of a filing as a row of an extension, and reads them back."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from finray.index.extensions.table import ExtensionTable
from finray.index.schema import vectors_array, vectors_matrix
from finray.models.encoder import Vectors
from finray.question.terms import content_terms
from finray.retrieval.trees.grow import Node

COLUMNS = ("trees", "leaf_pages", "leaf_starts", "leaf_items")
_KEPT_FILINGS = 2_000
"""Some 200 kB each, with 20 nodes of five questions and 384 dimensions."""
Place = tuple[int, int]
"""(page, start) of a leaf; start is 0 for a whole page."""


@dataclass(frozen=True, slots=True)
class ItemTree:
    """``leaves`` are numbers of the filing's leaves; nodes refer to them by their place in ``leaves``."""

    item: str
    leaves: tuple[int, ...]
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class FilingTrees:
    """The trees of a filing over its leaves, one for each Item ("" for pages outside of Items), or one in all."""

    places: tuple[Place, ...]
    trees: tuple[ItemTree, ...]

    @cached_property
    def nodes(self) -> tuple[tuple[ItemTree, Node], ...]:
        return tuple((tree, node) for tree in self.trees for node in tree.nodes)

    @cached_property
    def bags(self) -> tuple[Counter[str], ...]:
        """The words of each of ``nodes``."""
        return tuple(bag_of_words(f"{node.title}\n{node.summary}") for _, node in self.nodes)

    @cached_property
    def questions(self) -> tuple[Vectors, np.ndarray]:
        """The vectors of all questions (float32 [n, d]), and the place in ``nodes`` of each."""
        counts = [len(node.question_vectors) for _, node in self.nodes]
        vectors = [node.question_vectors for _, node in self.nodes] if any(counts) else [np.zeros((0, 1), np.float32)]
        return np.vstack(vectors), np.repeat(np.arange(len(counts)), counts)

    @cached_property
    def vectors(self) -> Vectors:
        """float32 [nodes, d]: the vectors of the summaries of ``nodes``."""
        return np.stack([node.vector for _, node in self.nodes]) if self.nodes else np.zeros((0, 0), np.float32)


def tree_columns(filing: FilingTrees, dimension: int) -> dict[str, pa.Array]:
    """One row's values of ``COLUMNS``."""
    items = {leaf: tree.item for tree in filing.trees for leaf in tree.leaves}
    leaf_items = [items[leaf] for leaf in range(len(filing.places))]
    return {
        "trees": pa.array([_nodes_bytes(filing, dimension)], pa.large_binary()),
        "leaf_pages": pa.array([[page for page, _ in filing.places]], pa.list_(pa.int32())),
        "leaf_starts": pa.array([[start for _, start in filing.places]], pa.list_(pa.int32())),
        "leaf_items": pa.array([leaf_items], pa.list_(pa.string())),
    }


def read_trees(row: Mapping[str, Any]) -> FilingTrees:
    """The trees in a row as ``tree_columns`` wrote it."""
    leaves: defaultdict[str, list[int]] = defaultdict(list)
    for number, item in enumerate(row["leaf_items"]):
        leaves[item].append(number)
    nodes: defaultdict[str, list[Node]] = defaultdict(list)
    table = pa.ipc.open_stream(pa.py_buffer(row["trees"])).read_all()
    vectors, dimension = vectors_matrix(table["vector"]), table.schema.field("vector").type.list_size
    columns = ("item", "level", "title", "summary", "questions", "children", "leaves", "question_vectors")
    values = zip(*(table[name].to_pylist() for name in columns), strict=True)
    for (item, level, title, summary, asked, children, below, asked_vectors), vector in zip(
        values, vectors, strict=True
    ):
        matrix = np.asarray(asked_vectors, np.float32).reshape(-1, dimension)
        nodes[item].append(Node(level, title, summary, tuple(asked), tuple(children), tuple(below), vector, matrix))
    trees = tuple(ItemTree(item, tuple(some), tuple(nodes[item])) for item, some in leaves.items())
    return FilingTrees(tuple(zip(row["leaf_pages"], row["leaf_starts"], strict=True)), trees)


def bag_of_words(text: str) -> Counter[str]:
    return Counter(content_terms(text))


class TreeStore:
    """Reads the trees of an index when they are needed, and keeps those of the last filings in memory."""

    def __init__(self, table: ExtensionTable) -> None:
        self._table = table
        self._known: dict[str, FilingTrees] = {}

    def trees(self, filing_ids: Sequence[str]) -> dict[str, FilingTrees]:
        """The trees of each filing that has any, in the given order."""
        missing = [filing_id for filing_id in filing_ids if filing_id not in self._known]
        if missing:
            rows = self._table.rows(COLUMNS, missing).to_pylist()
            self._known |= {row["filing_id"]: read_trees(row) for row in rows}
        found = {filing_id: self._known[filing_id] for filing_id in filing_ids if filing_id in self._known}
        while len(self._known) > _KEPT_FILINGS:
            del self._known[next(iter(self._known))]
        return found


def _nodes_bytes(filing: FilingTrees, dimension: int) -> bytes:
    items = [tree.item for tree, _ in filing.nodes]
    nodes = [node for _, node in filing.nodes]
    vectors = np.stack([node.vector for node in nodes]) if nodes else np.zeros((0, dimension), np.float32)
    table = pa.table(
        {
            "item": pa.array(items, pa.string()),
            "level": pa.array([node.level for node in nodes], pa.int8()),
            "title": pa.array([node.title for node in nodes], pa.string()),
            "summary": pa.array([node.summary for node in nodes], pa.string()),
            "questions": pa.array([node.questions for node in nodes], pa.list_(pa.string())),
            "children": pa.array([node.children for node in nodes], pa.list_(pa.int32())),
            "leaves": pa.array([node.leaves for node in nodes], pa.list_(pa.int32())),
            "question_vectors": pa.array([node.question_vectors.ravel() for node in nodes], pa.list_(pa.float32())),
            "vector": vectors_array(vectors, dimension),
        }
    )
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()

"""Keeps the graphs of all filings of an index in memory, and searches them by vector."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from finray.core.passages import PageKey
from finray.models.encoder import Vectors
from finray.retrieval.flat import Scope
from finray.retrieval.graph.parts import Entity, FilingGraph, Relation, node_key


@dataclass(frozen=True, slots=True)
class Node:
    filing_id: str
    entity: Entity
    neighbors: tuple[int, ...]
    """Positions of its relations, the strongest first."""


@dataclass(frozen=True, slots=True)
class Edge:
    filing_id: str
    relation: Relation
    ends: tuple[int, int]
    """Positions of its entities."""


class KnowledgeGraph:
    """Nodes and edges of filings; an entity belongs to one filing."""

    def __init__(self, graphs: Iterable[tuple[str, FilingGraph, Vectors]], dimension: int) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.unusable = 0
        node_vectors, edge_vectors = [np.empty((0, dimension), np.float32)], [np.empty((0, dimension), np.float32)]
        for filing_id, graph, vectors in graphs:
            first_node, first_edge = len(self.nodes), len(self.edges)
            at = {node_key(entity.name): first_node + number for number, entity in enumerate(graph.entities)}
            of_node: defaultdict[int, list[int]] = defaultdict(list)
            for number, relation in enumerate(graph.relations, start=first_edge):
                ends = (at[node_key(relation.source)], at[node_key(relation.target)])
                self.edges.append(Edge(filing_id, relation, ends))
                for end in ends:
                    of_node[end].append(number)
            for number, entity in enumerate(graph.entities, start=first_node):
                own = sorted(of_node[number], key=lambda edge: -self.edges[edge].relation.weight)
                self.nodes.append(Node(filing_id, entity, tuple(own)))
            node_vectors.append(vectors[: len(graph.entities)])
            edge_vectors.append(vectors[len(graph.entities) :])
            self.unusable += len(graph.unusable)
        self._node_vectors, self._edge_vectors = np.concatenate(node_vectors), np.concatenate(edge_vectors)
        self._node_filings = np.asarray([node.filing_id for node in self.nodes], dtype=object)
        self._edge_filings = np.asarray([edge.filing_id for edge in self.edges], dtype=object)

    def nearest_nodes(self, vector: Vectors, within: Scope, limit: int) -> list[int]:
        return _nearest(self._node_vectors @ vector, self._node_filings, within, limit)

    def nearest_edges(self, vector: Vectors, within: Scope, limit: int) -> list[int]:
        return _nearest(self._edge_vectors @ vector, self._edge_filings, within, limit)

    def pages_of_nodes(self, nodes: Sequence[int]) -> list[PageKey]:
        """The pages of each node in turn, those that name most of its neighbors first."""
        found: dict[PageKey, None] = {}
        for number in nodes:
            node = self.nodes[number]
            around = [self._other(edge, number).entity.pages for edge in node.neighbors]
            shared = {page: sum(page in pages for pages in around) for page in node.entity.pages}
            for page in sorted(node.entity.pages, key=lambda page: -shared[page]):
                found.setdefault((node.filing_id, page))
        return list(found)

    def pages_of_edges(self, edges: Sequence[int]) -> list[PageKey]:
        places = (
            (self.edges[number].filing_id, page) for number in edges for page in self.edges[number].relation.pages
        )
        return list(dict.fromkeys(places))

    def edges_of(self, nodes: Sequence[int]) -> list[int]:
        """The edges of ``nodes`` (the paper's one-hop neighbors), by the degrees of their ends, then by weight."""
        edges = dict.fromkeys(edge for number in nodes for edge in self.nodes[number].neighbors)
        return sorted(edges, key=lambda edge: (-self._degree(edge), -self.edges[edge].relation.weight))

    def nodes_of(self, edges: Sequence[int]) -> list[int]:
        return list(dict.fromkeys(end for number in edges for end in self.edges[number].ends))

    def _degree(self, edge: int) -> int:
        return sum(len(self.nodes[end].neighbors) for end in self.edges[edge].ends)

    def _other(self, edge: int, node: int) -> Node:
        first, second = self.edges[edge].ends
        return self.nodes[second if first == node else first]


def _nearest(scores: np.ndarray, filings: np.ndarray, within: Scope, limit: int) -> list[int]:
    if within is not None:
        scores = np.where(np.isin(filings, list(within)), scores, -np.inf)
    best = np.argsort(-scores, kind="stable")[:limit]
    return [int(number) for number in best if np.isfinite(scores[number])]

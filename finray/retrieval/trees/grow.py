"""Grows a tree from leaves: clusters them, writes a node for each cluster, and repeats that with the nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from finray.core.predictions import TokenUsage
from finray.models.encoder import Encoder, Vectors
from finray.retrieval.trees.clustering import Members
from finray.retrieval.trees.texts import NodeWriter, Piece, Written

Cluster = Callable[[Vectors, Sequence[Piece]], list[Members]]
_AT_ONCE = 64
"""Nodes that are written at a time; ``llm.max_concurrency`` limits their requests."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node above the leaves. ``leaves`` are the numbers of all leaves below it, ascending; ``children`` those of the
    nodes one level below, or of leaves at level 1. ``vector`` is that of its title and summary, ``question_vectors``
    float32 [questions, d]."""

    level: int
    title: str
    summary: str
    questions: tuple[str, ...]
    children: tuple[int, ...]
    leaves: tuple[int, ...]
    vector: Vectors
    question_vectors: Vectors


async def grow(
    pieces: Sequence[Piece], vectors: Vectors, layers: int, smallest: int, cluster: Cluster, writer: NodeWriter,
    encoder: Encoder,
) -> tuple[list[Node], TokenUsage]:  # fmt: skip
    """Returns at most ``layers`` layers of nodes over leaves, lowest first, and the tokens spent on them.

    ``pieces`` and ``vectors`` (float32 [n, d]) describe the leaves. A layer of ``smallest`` or fewer gets none above.
    """
    nodes: list[Node] = []
    usage = TokenUsage()
    below: list[tuple[int, ...]] = [(at,) for at in range(len(pieces))]
    for level in range(1, layers + 1):
        if len(pieces) <= smallest:
            break
        clusters = cluster(vectors, pieces)
        written = await _write_all([[pieces[at] for at in members] for members in clusters], writer)
        usage = sum((one.usage for one in written), usage)
        layer = _nodes(level, clusters, below, written, encoder)
        nodes += layer
        if len(layer) >= len(pieces):
            break  # clusters no longer join anything
        pieces = [
            _piece_of(one, [pieces[at] for at in node.children]) for one, node in zip(written, layer, strict=True)
        ]
        vectors = np.stack([node.vector for node in layer])
        below = [node.leaves for node in layer]
    return nodes, usage


async def _write_all(groups: Sequence[Sequence[Piece]], writer: NodeWriter) -> list[Written]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def write(group: Sequence[Piece]) -> Written:
        async with slots:
            return await writer.write(group)

    return list(await asyncio.gather(*map(write, groups)))


def _nodes(
    level: int, clusters: Sequence[Members], below: Sequence[tuple[int, ...]], written: Sequence[Written],
    encoder: Encoder,
) -> list[Node]:  # fmt: skip
    texts = [f"{one.title}\n{one.summary}".strip() for one in written]
    vectors = encoder.encode_passages(texts)
    questions = _question_vectors(list(chain.from_iterable(one.questions for one in written)), encoder)
    nodes, first = [], 0
    for members, one, vector in zip(clusters, written, vectors, strict=True):
        last = first + len(one.questions)
        leaves = sorted({leaf for at in members for leaf in below[at]})
        children = tuple(members.tolist())
        nodes.append(
            Node(level, one.title, one.summary, one.questions, children, tuple(leaves), vector, questions[first:last])
        )
        first = last
    return nodes


def _question_vectors(questions: Sequence[str], encoder: Encoder) -> Vectors:
    """float32 [n, d]: encoded as users' questions are (section 3.1.1), with the prefix of queries."""
    if not questions:
        return np.zeros((0, encoder.dimension), np.float32)
    return np.stack([encoder.encode_query(text) for text in questions])


def _piece_of(written: Written, children: Sequence[Piece]) -> Piece:
    """A node as a writer of the layer above sees it."""
    lines = dict(chain.from_iterable(piece.lines for piece in children))
    headings = (written.title, *chain.from_iterable(piece.headings for piece in children))
    return Piece(written.summary, tuple(dict.fromkeys(filter(None, headings))), tuple(lines.items()))

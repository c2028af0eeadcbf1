"""Trees: grown from leaves, stored as a row, searched from the root."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from finray.core.predictions import TokenUsage
from finray.models.encoder import Vectors
from finray.models.hash_encoder import HashEncoder
from finray.retrieval.trees.clustering import Members
from finray.retrieval.trees.grow import Node, grow
from finray.retrieval.trees.store import FilingTrees, ItemTree, bag_of_words, read_trees, tree_columns
from finray.retrieval.trees.texts import Piece, Written
from finray.retrieval.trees.traverse import best_leaves, bm25


class Prefixed(HashEncoder):
    """Sets questions apart from passages, as e5 does."""

    def encode_query(self, text: str) -> Vectors:
        return super().encode_query(f"query: {text}")


ENCODER = Prefixed(8)


class Titles:
    """A writer that names a node after its first leaf."""

    async def write(self, pieces: Sequence[Piece]) -> Written:
        first = pieces[0].text
        return Written(f"about {first}", f"summary of {first}", (f"What is {first}?",), TokenUsage(10, 2))


def pairs(vectors: Vectors, pieces: Sequence[Piece]) -> list[Members]:
    """Clusters of two neighbors, and one that shares a leaf with the first."""
    found = [np.arange(at, min(at + 2, len(pieces))) for at in range(0, len(pieces), 2)]
    return [*found, np.asarray([1, 2])] if len(pieces) > 4 else found


def grown(leaves: int, layers: int = 5) -> tuple[list[Node], TokenUsage]:
    pieces = [Piece(f"leaf{number}") for number in range(leaves)]
    vectors = ENCODER.encode_passages([piece.text for piece in pieces])
    return asyncio.run(grow(pieces, vectors, layers, 2, pairs, Titles(), ENCODER))


def test_layers_are_grown_until_few_nodes_are_left() -> None:
    nodes, usage = grown(8)
    assert [node.level for node in nodes] == [1] * 5 + [2] * 4 + [3] * 2
    assert nodes[4].children == nodes[4].leaves == (1, 2)
    assert nodes[5].children == (0, 1) and nodes[5].leaves == (0, 1, 2, 3)
    assert set(nodes[-1].leaves) | set(nodes[-2].leaves) == set(range(8))
    assert usage == TokenUsage(10 * len(nodes), 2 * len(nodes))
    np.testing.assert_allclose(nodes[0].question_vectors[0], ENCODER.encode_query("What is leaf0?"), atol=1e-6)


def test_depth_limits_the_layers_and_few_leaves_get_none() -> None:
    assert {node.level for node in grown(8, layers=1)[0]} == {1}
    assert grown(2)[0] == []


def test_a_row_holds_the_trees_of_a_filing() -> None:
    nodes = tuple(grown(8)[0])
    filing = FilingTrees(
        tuple((number // 3, number % 3) for number in range(9)),
        (ItemTree("7", tuple(range(8)), nodes), ItemTree("", (8,), ())),
    )
    row = pa.table(tree_columns(filing, 8)).to_pylist()[0]
    again = read_trees(row)
    assert again.places == filing.places
    assert [(tree.item, tree.leaves) for tree in again.trees] == [("7", tuple(range(8))), ("", (8,))]
    for (_, node), (_, stored) in zip(filing.nodes, again.nodes, strict=True):
        assert (node.level, node.title, node.questions, node.children, node.leaves) == (
            (stored.level, stored.title, stored.questions, stored.children, stored.leaves)
        )
        np.testing.assert_array_equal(node.question_vectors, stored.question_vectors)
    np.testing.assert_array_equal(filing.vectors, again.vectors)


def figure_4() -> tuple[ItemTree, list[str]]:
    """The tree of figure 4: two subjects, two topics each, and their documents as leaves."""
    names = ["YoY growth", "Segment revenue", "CET1 ratio", "Tier 1 capital", "Revenue Trends", "Capital Ratios"]
    counts = [3, 4, 2, 3]
    ends = np.cumsum([0, *counts]).tolist()
    topics = [(1, tuple(range(ends[at], ends[at + 1]))) for at in range(4)]
    subjects = [(2, (0, 1)), (2, (2, 3))]
    empty = np.zeros(0, np.float32)
    nodes = tuple(
        Node(level, name, "", (), children, (), empty, empty)
        for name, (level, children) in zip(names, [*topics, *subjects], strict=True)
    )
    return ItemTree("7", tuple(range(ends[-1])), nodes), names


def scores(names: list[str], question: str) -> np.ndarray:
    return bm25(question, [bag_of_words(name) for name in names])


def test_traversal_follows_the_best_children_down_to_leaves() -> None:
    tree, names = figure_4()
    leaf_scores = np.linspace(0.0, 1.0, len(tree.leaves), dtype=np.float32)
    of_capital = scores(names, "What was the capital ratio, tier CET1?")
    assert best_leaves(tree, of_capital, leaf_scores, beam=1) == [8]
    assert best_leaves(tree, of_capital, leaf_scores, beam=2) == [11, 10, 8, 7, 6, 5, 2, 1]
    assert len(best_leaves(tree, of_capital, leaf_scores, beam=3)) == 11  # all but one of the four of a topic


def test_an_item_without_nodes_offers_its_best_leaves() -> None:
    tree = ItemTree("3", (4, 5, 6, 7), ())
    found = best_leaves(tree, np.zeros(0, np.float32), np.asarray([0.1, 0.4, 0.3, 0.2], np.float32), beam=3)
    assert found == [1, 2, 3]


@pytest.mark.parametrize(("question", "best"), [("operating leases", 1), ("the notes that mature", 0), ("lease", 1)])
def test_bm25_matches_words_by_their_stems(question: str, best: int) -> None:
    bags = [bag_of_words(text) for text in ("Senior notes mature in 2027", "We lease offices under operating leases")]
    assert int(np.argmax(bm25(question, bags))) == best


def test_bm25_is_lucenes() -> None:
    """One of two texts of equal length has the term once: log(1 + 1.5 / 1.5) / (1 + 1.5)."""
    bags = [bag_of_words("debt"), bag_of_words("rent")]
    np.testing.assert_allclose(bm25("debt", bags), [np.log(2) / 2.5, 0.0], rtol=1e-6)
    assert bm25("nothing", []).size == 0

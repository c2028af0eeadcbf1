"""Top-down search of a tree, and BM25 over its nodes (FinGEAR, arXiv 2509.12042, section 3.2.2)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from finray.question.terms import content_terms
from finray.retrieval.trees.store import ItemTree

Scores = npt.NDArray[np.float32]
_K1, _B = 1.5, 0.75


def best_leaves(tree: ItemTree, node_scores: Scores, leaf_scores: Scores, beam: int) -> list[int]:
    """The leaves that traversal visits, by place in ``tree.leaves``, best first.

    From the root down, the ``beam`` children of a node with the highest scores are followed; leaves are children too.
    ``node_scores`` are those of ``tree.nodes``, ``leaf_scores`` those of ``tree.leaves``.
    """
    layers: defaultdict[int, list[int]] = defaultdict(list)
    for number, node in enumerate(tree.nodes):
        layers[node.level].append(number)
    level = max(layers, default=0)
    frontier = _best(layers[level] if level else range(len(tree.leaves)), node_scores if level else leaf_scores, beam)
    while level:
        below, scores = (layers[level - 1], node_scores) if level > 1 else (range(len(tree.leaves)), leaf_scores)
        reached = [
            child
            for number in frontier
            for child in _best([below[at] for at in tree.nodes[number].children], scores, beam)
        ]
        frontier, level = list(dict.fromkeys(reached)), level - 1
    return _best(frontier, leaf_scores, len(frontier))


def _best(numbers: Sequence[int], scores: Scores, limit: int) -> list[int]:
    return sorted(numbers, key=lambda number: -scores[number])[:limit]


def bm25(question: str, bags: Sequence[Counter[str]]) -> Scores:
    """float32 [len(bags)]: Lucene's BM25 with k1 = 1.5 and b = 0.75, the paper's, over ``bags`` as the collection."""
    scores = np.zeros(len(bags), dtype=np.float32)
    if not bags:
        return scores
    lengths = np.asarray([bag.total() for bag in bags], dtype=np.float32)
    norms = _K1 * (1 - _B + _B * lengths / max(1.0, float(lengths.mean())))
    for term in dict.fromkeys(content_terms(question)):
        counts = np.asarray([bag[term] for bag in bags], dtype=np.float32)
        found = int((counts > 0).sum())
        if found:
            rarity = math.log(1 + (len(bags) - found + 0.5) / (found + 0.5))
            scores += rarity * counts / (counts + norms)
    return scores

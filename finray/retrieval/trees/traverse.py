"""Searches a tree from the top down, and scores its nodes by BM25 (FinGEAR, arXiv 2509.12042, section 3.2.2)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from finray.question.terms import content_terms
from finray.retrieval.trees.store import ItemTree

Scores = npt.NDArray[np.float32]
_K1, _B = 1.5, 0.75


def best_leaves(tree: ItemTree, node_scores: Scores, leaf_scores: Scores, beam: int) -> list[int]:
    """The leaves that traversal visits, by place in ``tree.leaves``, best first.

    From the root down, it follows the ``beam`` children with the highest scores of each node; leaves are children too.
    ``node_scores`` belong to ``tree.nodes``, ``leaf_scores`` to ``tree.leaves``.
    """
    layers: defaultdict[int, list[int]] = defaultdict(list, {0: list(range(len(tree.leaves)))})
    for number, node in enumerate(tree.nodes):
        layers[node.level].append(number)
    top = max(layers)
    scores = [leaf_scores, *[node_scores] * top]
    frontier = _best(layers[top], scores[top], beam)
    for level in range(top - 1, -1, -1):
        children = ([layers[level][at] for at in tree.nodes[number].children] for number in frontier)
        frontier = list(dict.fromkeys(chain.from_iterable(_best(each, scores[level], beam) for each in children)))
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

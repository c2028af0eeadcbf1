"""``raptor``: one search over the chunks of a filing and over summaries of their clusters (the collapsed tree).

Sarthi et al., "RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval" (ICLR 2024, arXiv 2401.18059).
Chunks are clustered (UMAP, then Gaussian mixtures, over all of them and again inside each cluster) and summarized, the
summaries likewise, up to five layers. All nodes compete by their cosine with the question. As in the paper there is one
tree for each document; those of all filings in reach are searched together.

A passage is text of a page that can be checked, so a summary that is found stands for the chunk below it that is
nearest to the question and not in the result yet.

`finray extend --with raptor` builds the trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from finray.core.journal import Journal
from finray.core.query import Query
from finray.index.extensions.table import open_extension
from finray.index.schema import vectors_matrix
from finray.models.encoder import Vectors, query_vector
from finray.retrieval.flat import FoundPassages, Scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.trees.build import raptor_extension
from finray.retrieval.trees.leaf_texts import Leaf, LeafTexts
from finray.retrieval.trees.store import TreeStore

extension = raptor_extension


@dataclass(frozen=True, slots=True)
class _Found:
    """A node of a tree: a leaf, or a summary with all ``leaves`` below it."""

    score: float
    leaves: tuple[Leaf, ...]
    is_summary: bool


class CollapsedTrees:
    """All nodes of the trees of an index."""

    def __init__(self, tools: Toolbox) -> None:
        self._reader = tools.reader
        self._encoder = tools.encoder
        self._store = TreeStore(open_extension(tools.reader, raptor_extension(tools.settings)))
        self._whole_pages = tools.settings.methods.raptor.leaves == "pages"
        self._texts = LeafTexts(tools.reader, whole_pages=self._whole_pages)
        self._filing_ids = [filing.filing_id for filing in tools.reader.filings()]

    async def find(self, query: Query, within: Scope, k: int, journal: Journal) -> pa.Table:
        """The nodes with the largest cosines, best first; a summary stands for the nearest new leaf below it."""
        vector = await query_vector(self._encoder, query.question)
        nodes = [*self._nearest_leaves(vector, within, k), *self._nearest_summaries(vector, within, k)]
        chosen: dict[Leaf, float] = {}
        summaries = 0
        for node in sorted(nodes, key=lambda node: -node.score):
            if len(chosen) == k:
                break
            leaves = self._by_cosine(node.leaves, vector) if node.is_summary else node.leaves
            new = next((leaf for leaf in leaves if leaf not in chosen), None)
            if new is not None:
                chosen[new] = node.score
                summaries += node.is_summary
        journal.note(f"raptor: {len(chosen) - summaries} chunks, and {summaries} by way of a summary")
        return self._texts.table(list(chosen), list(chosen.values()))

    def _nearest_leaves(self, vector: Vectors, within: Scope, k: int) -> list[_Found]:
        search = self._reader.search_pages_vector if self._whole_pages else self._reader.search_chunks_vector
        return [_Found(row["score"], (_leaf(row),), False) for row in search(vector, within, k).to_pylist()]

    def _nearest_summaries(self, vector: Vectors, within: Scope, k: int) -> list[_Found]:
        found: list[_Found] = []
        for filing_id, trees in self._store.trees(self._filing_ids if within is None else list(within)).items():
            if not trees.nodes:
                continue
            scores = trees.vectors @ vector
            for at in np.argsort(-scores, kind="stable")[:k].tolist():
                _, node = trees.nodes[at]
                leaves = tuple((filing_id, *trees.places[leaf]) for leaf in node.leaves)
                found.append(_Found(float(scores[at]), leaves, True))
        return sorted(found, key=lambda node: -node.score)[:k]

    def _by_cosine(self, leaves: tuple[Leaf, ...], vector: Vectors) -> list[Leaf]:
        """``leaves``, those nearest to ``vector`` first."""
        pages = {leaf[:2] for leaf in leaves}
        if self._whole_pages:
            rows = self._reader.search_pages_vector(vector, {filing_id for filing_id, _ in pages}, 10**6)
            cosines = rows["score"].to_pylist()
        else:
            rows = self._reader.chunks_of_pages(pages, ["filing_id", "page", "start", "vector"])
            cosines = (vectors_matrix(rows["vector"]) @ vector).tolist()
            rows = rows.drop_columns(["vector"])
        scores = dict(zip(map(_leaf, rows.to_pylist()), cosines, strict=True))
        return sorted(leaves, key=lambda leaf: -scores[leaf])


def _leaf(row: Mapping[str, Any]) -> Leaf:
    """The leaf of a row of pages or chunks."""
    return row["filing_id"], row["page"], row.get("start", 0)


def build(tools: Toolbox) -> Retrieval:
    return tools.flat(FoundPassages(tools.reader, CollapsedTrees(tools).find))

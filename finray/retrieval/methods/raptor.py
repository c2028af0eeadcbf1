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
_Found = tuple[float, Leaf | tuple[Leaf, ...]]
"""A score with a leaf, or with all leaves below a summary."""


def build(tools: Toolbox) -> Retrieval:
    reader, encoder = tools.reader, tools.encoder
    store = TreeStore(open_extension(reader, raptor_extension(tools.settings)))
    whole_pages = tools.settings.methods.raptor.leaves == "pages"
    texts = LeafTexts(reader, whole_pages=whole_pages)
    every = [filing.filing_id for filing in reader.filings()]

    def nearest_leaves(vector: Vectors, within: Scope, k: int) -> list[_Found]:
        search = reader.search_pages_vector if whole_pages else reader.search_chunks_vector
        return [(row["score"], _leaf(row)) for row in search(vector, within, k).to_pylist()]

    def nearest_summaries(vector: Vectors, within: Scope, k: int) -> list[_Found]:
        found: list[_Found] = []
        for filing_id, trees in store.trees(every if within is None else list(within)).items():
            if trees.nodes:
                scores = trees.vectors @ vector
                for at in np.argsort(-scores, kind="stable")[:k].tolist():
                    leaves = (trees.places[leaf] for leaf in trees.nodes[at][1].leaves)
                    found.append((float(scores[at]), tuple((filing_id, *place) for place in leaves)))
        return sorted(found, key=lambda one: -one[0])[:k]

    def by_cosine(leaves: tuple[Leaf, ...], vector: Vectors) -> list[Leaf]:
        pages = {leaf[:2] for leaf in leaves}
        if whole_pages:
            rows = reader.search_pages_vector(vector, {page[0] for page in pages}, 10**6)
            scores = dict(zip(map(_leaf, rows.to_pylist()), rows["score"].to_pylist(), strict=True))
        else:
            rows = reader.chunks_of_pages(pages, ["filing_id", "page", "start", "vector"])
            cosines = (vectors_matrix(rows["vector"]) @ vector).tolist()
            scores = dict(zip(map(_leaf, rows.drop_columns(["vector"]).to_pylist()), cosines, strict=True))
        return sorted(leaves, key=lambda leaf: -scores[leaf])

    async def find(query: Query, within: Scope, k: int, journal: Journal) -> pa.Table:
        """Nodes by cosine, summaries as their nearest leaf."""
        vector = await query_vector(encoder, query.question)
        nodes = sorted(
            [*nearest_leaves(vector, within, k), *nearest_summaries(vector, within, k)], key=lambda one: -one[0]
        )
        chosen: dict[Leaf, float] = {}
        summaries = 0
        for score, reached in nodes:
            if len(chosen) == k:
                break
            if isinstance(reached[0], str):
                chosen.setdefault(reached, score)
                continue
            new = next((leaf for leaf in by_cosine(reached, vector) if leaf not in chosen), None)
            if new is not None:
                chosen[new] = score
                summaries += 1
        journal.note(f"raptor: {len(chosen) - summaries} chunks, and {summaries} by way of a summary")
        return texts.table(list(chosen), list(chosen.values()))

    return tools.flat(FoundPassages(reader, find))


def _leaf(row: dict[str, object]) -> Leaf:
    return (str(row["filing_id"]), int(row["page"]), int(row.get("start", 0)))  # type: ignore[call-overload]

"""``fingear``: a finance lexicon chooses the Items, a Summary Tree and a Question Tree search inside each.

Li et al., "FinGEAR: Financial Mapping-Guided Enhanced Answer Retrieval" (arXiv 2509.12042). The terms of the question
weigh the SEC Items and divide the k passages between them (FLAM); in each Item two trees of the same shape are followed
from the root, one by BM25 over summaries, one by the cosine of question and stored questions; a cross-encoder orders
what both find, first inside an Item, then across Items. The paper does not choose filings: here that is done as in
``finray``. docs/systems/fingear.md has the whole walk, the choices and the stand-ins.

`finray extend --with fingear` builds the trees. Each of the paper's ablations is a setting.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from finray.core.errors import SettingsError
from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.index.extensions.table import ExtensionTable, extension_file, open_extension
from finray.index.reading.reader import IndexReader
from finray.models.encoder import Vectors, query_vector
from finray.models.reranker import Reranker, pair_scores
from finray.retrieval.documents import StructuredDocuments
from finray.retrieval.flam import Flam, Lexicon, item_budgets
from finray.retrieval.flat import chunk_passages, doc_names, scope
from finray.retrieval.fusion import fuse
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.trees.build import LEXICON, fingear_extension
from finray.retrieval.trees.leaf_texts import Leaf, LeafTexts
from finray.retrieval.trees.store import FilingTrees, ItemTree, TreeStore
from finray.retrieval.trees.traverse import Scores, best_leaves, bm25

_FUSION_CONSTANT = 60
_TRACED_ITEMS = 6
_ALL = "all"
"""In place of an Item if nothing tells the Items apart."""

extension = fingear_extension


@dataclass(frozen=True, slots=True)
class _Filing:
    filing_id: str
    trees: FilingTrees

    def leaf(self, number: int) -> Leaf:
        page, start = self.trees.places[number]
        return self.filing_id, page, start


class FingearPassages:
    """``Passage.score`` is the cross-encoder's, or without one the sum of reciprocal ranks in the two trees."""

    def __init__(self, tools: Toolbox, store: TreeStore, flam: Flam, reranker: Reranker | None) -> None:
        self._reader = tools.reader
        self._encoder = tools.encoder
        self._chosen = tools.settings.methods.fingear
        self._store = store
        self._flam = flam
        self._reranker = reranker
        self._names = doc_names(tools.reader)
        self._texts = LeafTexts(tools.reader, whole_pages=self._chosen.leaves == "pages")

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        within = scope(documents)
        trees = self._store.trees(list(self._names) if within is None else list(within))
        filings = [_Filing(*found) for found in trees.items()]
        by_item: defaultdict[str, list[tuple[_Filing, ItemTree]]] = defaultdict(list)
        for filing in filings:
            for tree in filing.trees.trees:
                by_item[tree.item].append((filing, tree))
        if not by_item:
            return ()
        vector = await query_vector(self._encoder, query.question)
        weights, terms = self._flam.weights(query.question, vector, by_item)
        if not weights:  # the trees of all Items compete for the whole budget
            weights = {_ALL: 1.0}
            by_item[_ALL] = [tree for trees in by_item.values() for tree in trees]
        budgets = item_budgets(weights, k)
        _note_items(terms, weights, budgets, journal)
        scores = _TreeScores(query.question, vector, filings, self._reader, self._chosen.leaves)
        chosen: dict[Leaf, float] = {}
        for item in sorted(budgets, key=lambda item: -weights[item]):  # equal scores: the heavier Item first
            if budgets[item]:
                # Stage 1, across the trees of one Item.
                ordered = await self._ordered(query.question, self._fused(by_item[item], scores))
                chosen |= itertools.islice(ordered.items(), budgets[item])
        # Stage 2, across Items. A cross-encoder scores each pair alone, so the scores of stage 1 serve again.
        ranked = sorted(chosen, key=lambda leaf: -chosen[leaf])
        return chunk_passages(self._texts.table(ranked, [chosen[leaf] for leaf in ranked]), self._names)

    def _fused(self, trees: Sequence[tuple[_Filing, ItemTree]], scores: _TreeScores) -> dict[Leaf, float]:
        """The leaves that both trees of one Item find, over all filings, and the sums of their reciprocal ranks."""
        rankings = []
        for wanted, node_scores, leaf_scores in (
            (self._chosen.summary_tree, scores.summaries, scores.words),
            (self._chosen.question_tree, scores.questions, scores.cosines),
        ):
            if wanted:
                found: dict[Leaf, float] = {}
                for filing, tree in trees:
                    leaves = [filing.leaf(number) for number in tree.leaves]
                    own = np.asarray([leaf_scores.get(leaf, 0.0) for leaf in leaves], dtype=np.float32)
                    visited = best_leaves(tree, node_scores[filing.filing_id, tree.item], own, self._chosen.beam)
                    found |= {leaves[at]: float(own[at]) for at in visited}
                rankings.append(sorted(found, key=lambda leaf: -found[leaf]))
        return dict(fuse(rankings, _FUSION_CONSTANT))

    async def _ordered(self, question: str, fused: dict[Leaf, float]) -> dict[Leaf, float]:
        """``fused`` as the cross-encoder scores and orders it, if there is one."""
        if self._reranker is None or not fused:
            return fused
        leaves = list(fused)
        scores = await pair_scores(self._reranker, question, self._texts.texts(leaves))
        best = np.argsort(-scores, kind="stable").tolist()
        return {leaves[at]: float(scores[at]) for at in best}


class _TreeScores:
    """Scores of one question for every node and leaf in reach.

    ``summaries`` (BM25) and ``questions`` (largest cosine of a node's questions) are those of the nodes of each
    (filing id, Item); ``words`` (BM25) and ``cosines`` those of the leaves.
    """

    def __init__(
        self, question: str, vector: Vectors, filings: Sequence[_Filing], reader: IndexReader, leaves: str
    ) -> None:
        lexical = bm25(question, [bag for filing in filings for bag in filing.trees.bags])
        self.summaries: dict[tuple[str, str], Scores] = {}
        self.questions: dict[tuple[str, str], Scores] = {}
        start = 0
        for filing in filings:
            count = len(filing.trees.nodes)
            self._split(self.summaries, filing, lexical[start : start + count])
            self._split(self.questions, filing, _largest(vector, *filing.trees.questions, count))
            start += count
        ids = [filing.filing_id for filing in filings]
        limit = sum(len(filing.trees.places) for filing in filings)
        if leaves == "pages":
            found = reader.search_pages_text(question, ids, limit), reader.search_pages_vector(vector, ids, limit)
        else:
            found = reader.search_chunks_text(question, ids, limit), reader.search_chunks_vector(vector, ids, limit)
        self.words, self.cosines = map(_leaf_scores, found)

    @staticmethod
    def _split(into: dict[tuple[str, str], Scores], filing: _Filing, scores: Scores) -> None:
        start = 0
        for tree in filing.trees.trees:
            into[filing.filing_id, tree.item] = scores[start : start + len(tree.nodes)]
            start += len(tree.nodes)


def _largest(vector: Vectors, questions: Vectors, nodes: np.ndarray, count: int) -> Scores:
    """float32 [count]: the largest cosine of the questions of each node; -1 for a node without any."""
    scores = np.full(count, -1.0, dtype=np.float32)
    if len(questions):
        np.maximum.at(scores, nodes, questions @ vector)
    return scores


def _leaf_scores(hits: pa.Table) -> dict[Leaf, float]:
    starts = hits["start"].to_pylist() if "start" in hits.column_names else [0] * hits.num_rows
    places = zip(hits["filing_id"].to_pylist(), hits["page"].to_pylist(), starts, strict=True)
    return dict(zip(places, hits["score"].to_pylist(), strict=True))


def _note_items(
    terms: Sequence[str], weights: Mapping[str, float], budgets: Mapping[str, int], journal: Journal
) -> None:
    heaviest = sorted(weights, key=lambda item: -weights[item])[:_TRACED_ITEMS]
    shown = ", ".join(f"Item {item or '–'} {weights[item]:.2f} -> {budgets[item]}" for item in heaviest)
    journal.note(f"fingear: terms {', '.join(terms) or 'not used'}; {shown}")


def build(tools: Toolbox) -> Retrieval:
    """Raises SettingsError if both trees are off."""
    chosen = tools.settings.methods.fingear
    if not (chosen.summary_tree or chosen.question_tree):
        raise SettingsError(
            "methods.fingear.summary_tree and methods.fingear.question_tree are both false; one tree must find passages"
        )
    reranker = tools.reranker("passage_reranker") if chosen.rerank else None
    described = fingear_extension(tools.settings)
    table = open_extension(tools.reader, described)
    lexicon = Lexicon.from_bytes(extension_file(tools.reader, described, LEXICON))
    passages = FingearPassages(tools, TreeStore(table), Flam(lexicon, _term_counts(table), chosen), reranker)
    return Retrieval(StructuredDocuments(tools.reader, tools.encoder, tools.catalog), passages)


def _term_counts(table: ExtensionTable) -> dict[str, dict[int, int]]:
    """Item -> term -> occurrences in all filings."""
    rows = table.rows(["term_items", "terms", "term_counts"])
    flat = pa.table({name: pc.list_flatten(rows[name]) for name in ("term_items", "terms", "term_counts")})
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for row in flat.group_by(["term_items", "terms"]).aggregate([("term_counts", "sum")]).to_pylist():
        counts[row["term_items"]][row["terms"]] = row["term_counts_sum"]
    return counts

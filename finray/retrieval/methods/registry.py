"""All retrieval methods by name, with their needs and builders."""

from __future__ import annotations

from typing import Final

from finray.core.settings import Settings
from finray.index.extensions.extension import Extension
from finray.retrieval.methods import (
    bm25,
    dense,
    dense_rerank,
    fingear,
    finray,
    hhr,
    hirec,
    hybrid_search,
    hyde,
    ircot,
    lightrag,
    lightrag_rules,
    long_context,
    multi_hyde,
    page_scorer,
    parent_child,
    query_expansion,
    raptor,
    rq_rag_prompted,
    rrf,
    self_rag_prompted,
    splade,
    zero_shot,
)
from finray.retrieval.methods.method import Method
from finray.retrieval.methods.titles import title_vectors, title_words


def _word_titles(_: Settings) -> tuple[Extension, ...]:
    return (title_words(),)


def _vector_titles(settings: Settings) -> tuple[Extension, ...]:
    return (title_vectors(settings),)


def _word_and_vector_titles(settings: Settings) -> tuple[Extension, ...]:
    return (*_word_titles(settings), *_vector_titles(settings))


_ALL: Final = (
    Method(
        "finray",
        "filings by cover facts, then pages by text, statement and filing",
        "this project",
        finray.build,
        flat=False,
    ),
    Method(
        "bm25",
        "words: BM25 over chunks",
        "Robertson and Zaragoza 2009",
        bm25.build,
        titles=_word_titles,
        searches=True,
    ),
    Method(
        "dense",
        "vectors: chunks nearest to the question",
        "Karpukhin et al. 2020, arXiv 2004.04906",
        dense.build,
        titles=_vector_titles,
        searches=True,
    ),
    Method(
        "splade",
        "learned sparse vectors of chunks",
        "Formal et al. 2021, arXiv 2107.05720; Lassance et al. 2024, arXiv 2403.06789",
        splade.build,
        ("sparse encoder",),
        splade.extension,
        searches=True,
    ),
    Method(
        "rrf",
        "BM25 and dense rankings of chunks, fused by reciprocal ranks",
        "Cormack et al. 2009",
        rrf.build,
        titles=_word_and_vector_titles,
        searches=True,
    ),
    Method(
        "query_expansion",
        "BM25 for the question and other names of its metrics, periods and forms",
        "Voorhees 1994; arXiv 2602.17981",
        query_expansion.build,
        titles=_word_titles,
        writer=query_expansion.writer,
    ),
    Method(
        "hyde",
        "vectors: chunks nearest to an imagined passage",
        "Gao et al. 2022, arXiv 2212.10496",
        hyde.build,
        ("chat model",),
        titles=_vector_titles,
        writer=hyde.writer,
    ),
    Method(
        "multi_hyde",
        "vectors: chunks nearest to the mean of four imagined passages",
        "Srinivasan et al. 2025, arXiv 2509.16369",
        multi_hyde.build,
        ("chat model",),
        titles=_vector_titles,
        writer=multi_hyde.writer,
    ),
    Method(
        "parent_child",
        "vectors: whole pages of the nearest chunks",
        "LangChain's parent document retriever",
        parent_child.build,
        searches=True,
    ),
    Method(
        "dense_rerank",
        "nearest chunks, ordered by a cross-encoder",
        "Nogueira and Cho 2019, arXiv 1901.04085",
        dense_rerank.build,
        ("passage reranker",),
    ),
    Method(
        "page_scorer",
        "the best pages by a bi-encoder over whole pages, then chunks inside them",
        "Kobeissi and Langlais 2026, arXiv 2602.17981",
        page_scorer.build,
        extension=page_scorer.extension,
        titles=page_scorer.title_extensions,
        searches=True,
    ),
    Method(
        "hhr",
        "filings by words and vectors, then chunks by words and vectors",
        "Arivazhagan et al. 2023, Findings of ACL",
        hhr.build,
        flat=False,
        titles=_word_and_vector_titles,
    ),
    Method(
        "hirec",
        "filings by cover summary and cross-encoder, then their chunks by cross-encoder",
        "Choe et al. 2025, arXiv 2505.20368",
        hirec.build,
        ("document reranker", "passage reranker"),
        hirec.extension,
        flat=False,
    ),
    Method(
        "ircot",
        "BM25 for the question, then for each sentence of a reasoning, in turns",
        "Trivedi et al. 2023, arXiv 2212.10509",
        ircot.build,
        ("generator",),
        titles=_word_titles,
    ),
    Method(
        "hybrid_search",
        "BM25 scores and cosines of chunks in a weighted sum",
        "Wang 2024, FinanceRAG with Hybrid Search and Reranking",
        hybrid_search.build,
        titles=_word_and_vector_titles,
    ),
    Method(
        "self_rag_prompted",
        "nearest chunks; sentences of the answer from one chunk at a time, chosen by the model's critique",
        "Asai et al. 2024, arXiv 2310.11511",
        self_rag_prompted.build,
        ("chat model",),
        titles=_vector_titles,
        answers="also",
    ),
    Method(
        "rq_rag_prompted",
        "a tree of rewritten, decomposed and disambiguated questions, each searched for by vector",
        "Chan et al. 2024, arXiv 2404.00610",
        rq_rag_prompted.build,
        ("chat model",),
        titles=_vector_titles,
        answers="also",
    ),
    Method(
        "zero_shot",
        "no retrieval: the language model answers from memory",
        "baseline of arXiv 2505.20368",
        zero_shot.build,
        ("generator",),
        answers="only",
    ),
    Method(
        "long_context",
        "no retrieval inside a filing: the language model reads all of it",
        "Islam et al. 2023, arXiv 2311.11944; Reddy et al. 2024, arXiv 2401.06915",
        long_context.build,
        ("generator",),
        flat=False,
        answers="only",
    ),
    Method(
        "lightrag",
        "pages by way of a knowledge graph that a language model wrote",
        "Guo et al. 2024, arXiv 2410.05779",
        lightrag.build,
        ("chat model",),
        lightrag.extension,
        answers="also",
    ),
    Method(
        "lightrag_rules",
        "pages by way of a knowledge graph of companies, line items and names",
        "Guo et al. 2024, arXiv 2410.05779, without a language model",
        lightrag_rules.build,
        extension=lightrag_rules.extension,
        answers="also",
    ),
    Method(
        "raptor",
        "chunks and summaries of their clusters, by vector",
        "Sarthi et al. 2024, arXiv 2401.18059",
        raptor.build,
        extension=raptor.extension,
    ),
    Method(
        "fingear",
        "filings as in finray, Items by a finance lexicon, pages by two trees in each, then a cross-encoder",
        "Li et al. 2025, arXiv 2509.12042",
        fingear.build,
        ("passage reranker",),
        fingear.extension,
        flat=False,
    ),
)
METHODS: Final = {method.name: method for method in _ALL}

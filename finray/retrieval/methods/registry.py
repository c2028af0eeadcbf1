"""All retrieval methods by name, with their needs and builders, and compositions of them.

``rrf+multi_hyde+title+rerank`` is a first stage, then in any order ``+title`` (finray.retrieval.methods.titles), a
query writer and ``+rerank``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from finray.core.errors import SettingsError
from finray.core.settings import Settings
from finray.filings.summary import filing_title
from finray.index.extensions import AnyExtension, Extension
from finray.retrieval.flat import AllDocuments
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
from finray.retrieval.methods.titles import title_vectors, title_words
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import QueryWriter, WrittenPassages
from finray.retrieval.rerank import RerankedPassages

Need = Literal["chat model", "generator", "document reranker", "passage reranker", "sparse encoder"]


@dataclass(frozen=True, slots=True)
class Method:
    """``description`` is one line, ``source`` the publication. ``extension`` describes the stored vectors or trees that
    the method needs besides the index; of the language models, "chat model" is ``llm`` and "generator" ``answer_llm``
    if there is one. ``flat`` methods have no document stage. ``titles`` are the extensions of
    ``+title``, None if the method does not take it. ``writer`` writes queries, for itself and for first stages;
    ``searches`` is whether the method is a first stage for writers."""

    name: str
    description: str
    source: str
    build: Callable[[Toolbox], Retrieval]
    needs: tuple[Need, ...] = ()
    extension: Callable[[Settings], AnyExtension] | None = None
    flat: bool = True
    answers: Literal["no", "also", "only"] = "no"
    """Whether the method can write the answer (``loop.answerer=method``), or does nothing else."""
    titles: Callable[[Settings], tuple[Extension, ...]] | None = None
    writer: Callable[[Toolbox], QueryWriter] | None = None
    searches: bool = False

    def extensions(self, settings: Settings) -> tuple[AnyExtension, ...]:
        """The stored vectors, words or trees that the method needs with these settings."""
        parts = self.name.split("+")
        if "title" in parts and self.titles is not None:
            return self.titles(settings)
        return (self.extension(settings),) if self.extension is not None else ()


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


def method_named(name: str) -> Method:
    """The method ``name``, or the composition. Raises SettingsError for an unknown name, with the known ones, and for
    parts that do not go together."""
    first, *parts = name.split("+")
    if first not in METHODS:
        raise SettingsError(f"retrieval.method = {name!r} is unknown; choose from {', '.join(METHODS)}")
    method = METHODS[first]
    return _composed(name, method, parts) if parts else method


def needed_extensions(settings: Settings) -> tuple[AnyExtension, ...]:
    """What must be stored beside the index for ``retrieval.method``. ``page_scorer`` without a model of its own and
    ``hirec`` with summaries of cover facts need nothing."""
    method = method_named(settings.retrieval.method)
    if method.name == page_scorer.NAME and not settings.page_encoder.model:
        return ()
    if method.name == hirec.NAME and settings.methods.hirec.summaries == "facts":
        return ()
    return method.extensions(settings)


def _composed(name: str, first: Method, parts: Sequence[str]) -> Method:
    """Raises SettingsError."""
    writers = {method.name: method for method in _ALL if method.writer is not None}
    known = ["title", *writers, "rerank"]
    for part in parts:
        if part not in known:
            raise _refused(name, f"{part!r} is unknown after '+'; choose from {', '.join(known)}")
    if twice := next((part for part in parts if parts.count(part) > 1), None):
        raise _refused(name, f"{twice!r} is there twice")
    chosen = [writers[part] for part in parts if part in writers]
    if len(chosen) > 1 or (chosen and not first.searches):
        searching = ", ".join(method.name for method in _ALL if method.searches)
        raise _refused(name, f"a query writer ({', '.join(writers)}) goes after one of {searching}, and one is enough")
    if "title" in parts and first.titles is None:
        titled = ", ".join(method.name for method in _ALL if method.titles is not None)
        raise _refused(name, f"+title goes after one of {titled}")
    if "rerank" in parts and not first.flat:
        raise _refused(name, f"+rerank goes after a flat method; {first.name!r} chooses filings first")
    needs = [*first.needs, *(need for method in chosen for need in method.needs)]
    needs += ["passage reranker"] * ("rerank" in parts)
    return replace(
        first,
        name=name,
        description="; ".join((first.description, *parts)),
        build=partial(_build_composed, first, chosen[0].writer if chosen else None, frozenset(parts)),
        needs=tuple(dict.fromkeys(needs)),
    )


def _build_composed(
    first: Method, writer: Callable[[Toolbox], QueryWriter] | None, parts: frozenset[str], tools: Toolbox
) -> Retrieval:
    tools = replace(tools, titled="title" in parts)
    retrieval = first.build(tools)
    passages = retrieval.passages
    if writer is not None:
        passages = WrittenPassages(passages, writer(tools))
    if "rerank" in parts:
        titles = {f.filing_id: filing_title(f) for f in tools.reader.filings()} if tools.titled else None
        candidates = tools.settings.methods.rerank.candidates
        passages = RerankedPassages(passages, tools.reranker("passage_reranker"), candidates, titles)
    return replace(retrieval, passages=passages)


def _refused(name: str, problem: str) -> SettingsError:
    return SettingsError(f"retrieval.method = {name!r}: {problem}")


def build_retrieval(tools: Toolbox) -> Retrieval:
    """The method that the settings name, without its document stage if ``retrieval.hierarchical`` is false.

    Raises SettingsError for an unknown method, or if something that it needs is not set up.
    """
    method = method_named(tools.settings.retrieval.method)
    if method.answers == "no" and tools.answers:
        able = ", ".join(other.name for other in METHODS.values() if other.answers != "no")
        raise SettingsError(
            f"retrieval.method = {method.name!r} writes no answers, so loop.answerer cannot be 'method'; these write "
            f"them: {able}"
        )
    if method.answers == "only" and not tools.answers:
        raise SettingsError(
            f"retrieval.method = {method.name!r} only answers; set loop.answerer=method (finray compare --answers)"
        )
    retrieval = method.build(tools)
    if tools.settings.retrieval.hierarchical:
        return retrieval
    return replace(retrieval, documents=AllDocuments(tools.reader))

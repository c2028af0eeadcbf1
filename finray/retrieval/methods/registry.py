"""All retrieval methods by name, with their needs and builders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from finray.core.errors import SettingsError
from finray.core.settings import Settings
from finray.index.extensions import Extension
from finray.retrieval.flat import AllDocuments
from finray.retrieval.methods import (
    bm25,
    dense,
    dense_rerank,
    finray,
    hhr,
    hirec,
    hyde,
    ircot,
    multi_hyde,
    page_scorer,
    parent_child,
    query_expansion,
    rrf,
    splade,
)
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

Need = Literal["chat model", "document reranker", "passage reranker", "sparse encoder"]


@dataclass(frozen=True, slots=True)
class Method:
    """``description`` is one line, ``source`` the publication. ``extension`` describes the stored vectors that the
    method needs besides the index; ``flat`` methods have no document stage."""

    name: str
    description: str
    source: str
    build: Callable[[Toolbox], Retrieval]
    needs: tuple[Need, ...] = ()
    extension: Callable[[Settings], Extension] | None = None
    flat: bool = True


_ALL: Final = (
    Method(
        "finray",
        "filings by cover facts, then pages by text, statement and filing",
        "this project",
        finray.build,
        flat=False,
    ),
    Method("bm25", "words: BM25 over chunks", "Robertson and Zaragoza 2009", bm25.build),
    Method("dense", "vectors: chunks nearest to the question", "Karpukhin et al. 2020, arXiv 2004.04906", dense.build),
    Method(
        "splade",
        "learned sparse vectors of chunks",
        "Formal et al. 2021, arXiv 2107.05720; Lassance et al. 2024, arXiv 2403.06789",
        splade.build,
        ("sparse encoder",),
        splade.extension,
    ),
    Method("rrf", "BM25 and dense rankings of chunks, fused by reciprocal ranks", "Cormack et al. 2009", rrf.build),
    Method(
        "query_expansion",
        "BM25 for the question and other names of its metrics, periods and forms",
        "Voorhees 1994; arXiv 2602.17981",
        query_expansion.build,
    ),
    Method(
        "hyde",
        "vectors: chunks nearest to an imagined passage",
        "Gao et al. 2022, arXiv 2212.10496",
        hyde.build,
        ("chat model",),
    ),
    Method(
        "multi_hyde",
        "vectors: chunks nearest to the mean of four imagined passages",
        "Srinivasan et al. 2025, arXiv 2509.16369",
        multi_hyde.build,
        ("chat model",),
    ),
    Method(
        "parent_child",
        "vectors: whole pages of the nearest chunks",
        "LangChain's parent document retriever",
        parent_child.build,
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
    ),
    Method(
        "hhr",
        "filings by words and vectors, then chunks by words and vectors",
        "Arivazhagan et al. 2023, Findings of ACL",
        hhr.build,
        flat=False,
    ),
    Method(
        "hirec",
        "filings by cover summary and cross-encoder, then chunks by vector and cross-encoder",
        "Choe et al. 2025, arXiv 2505.20368",
        hirec.build,
        ("document reranker", "passage reranker"),
        flat=False,
    ),
    Method(
        "ircot",
        "BM25 for the question, then for each sentence of a reasoning, in turns",
        "Trivedi et al. 2023, arXiv 2212.10509",
        ircot.build,
        ("chat model",),
    ),
)
METHODS: Final = {method.name: method for method in _ALL}


def method_named(name: str) -> Method:
    """The method ``name``. Raises SettingsError for an unknown name, with the known ones."""
    if name not in METHODS:
        raise SettingsError(f"retrieval.method = {name!r} is unknown; choose from {', '.join(METHODS)}")
    return METHODS[name]


def build_retrieval(tools: Toolbox) -> Retrieval:
    """The method that the settings name, without its document stage if ``retrieval.hierarchical`` is false.

    Raises SettingsError for an unknown method, or if something that it needs is not set up.
    """
    retrieval = method_named(tools.settings.retrieval.method).build(tools)
    if tools.settings.retrieval.hierarchical:
        return retrieval
    return replace(retrieval, documents=AllDocuments(tools.reader))

"""Every retrieval method by name: what it is, what it needs, and how it is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from finray.errors import SettingsError
from finray.retrieval.flat import AllDocuments
from finray.retrieval.methods import bm25, dense, finray, hirec
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

Need = Literal["chat model", "document reranker", "passage reranker"]


@dataclass(frozen=True, slots=True)
class Method:
    """``description`` is one line; ``source`` is where the method was published."""

    name: str
    description: str
    source: str
    build: Callable[[Toolbox], Retrieval]
    needs: tuple[Need, ...] = ()


_ALL: Final = (
    Method("finray", "filings by cover facts, then pages by text, statement and filing", "this project", finray.build),
    Method("bm25", "BM25 over the chunks of all filings", "Robertson and Zaragoza 2009", bm25.build),
    Method("dense", "nearest chunks of all filings", "Karpukhin et al. 2020, arXiv 2004.04906", dense.build),
    Method(
        "hirec",
        "filings by cover summary and cross-encoder, then chunks by vector and cross-encoder",
        "Choe et al. 2025, arXiv 2505.20368",
        hirec.build,
        ("document reranker", "passage reranker"),
    ),
)
METHODS: Final = {method.name: method for method in _ALL}


def method_named(name: str) -> Method:
    """Raises SettingsError for an unknown name, with the known ones."""
    if name not in METHODS:
        raise SettingsError(f"retrieval.method = {name!r} is unknown; choose from {', '.join(METHODS)}")
    return METHODS[name]


def build_retrieval(tools: Toolbox) -> Retrieval:
    """The method that the settings name; with ``retrieval.hierarchical`` false, without its document stage.

    Raises SettingsError for an unknown method, or where what it needs is not set up.
    """
    retrieval = method_named(tools.settings.retrieval.method).build(tools)
    if tools.settings.retrieval.hierarchical:
        return retrieval
    return replace(retrieval, documents=AllDocuments(tools.reader))

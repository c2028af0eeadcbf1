"""Builds the method that the settings name: one of the registry, or a composition.

A composition such as ``rrf+multi_hyde+title+rerank`` is a first stage, then in any order ``title``
(finray.retrieval.methods.titles), a query writer and ``rerank``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from finray.core.errors import SettingsError
from finray.core.settings import Settings
from finray.filings.cover.summary import filing_title
from finray.index.extensions.extension import AnyExtension
from finray.retrieval.flat import AllDocuments
from finray.retrieval.methods import hirec, page_scorer
from finray.retrieval.methods.method import Method
from finray.retrieval.methods.registry import METHODS
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import QueryWriter, WrittenPassages
from finray.retrieval.rerank import RerankedPassages


def method_named(name: str) -> Method:
    """The method or composition ``name``. Raises SettingsError for an unknown name, and for parts that do not go
    together."""
    first, *parts = name.split("+")
    if first not in METHODS:
        raise SettingsError(f"retrieval.method = {name!r} is unknown; choose from {', '.join(METHODS)}")
    method = METHODS[first]
    return _composed(name, method, parts) if parts else method


def needed_extensions(settings: Settings) -> tuple[AnyExtension, ...]:
    """The extensions that ``retrieval.method`` needs. ``page_scorer`` without a model of its own and ``hirec`` with
    summaries of cover facts need none."""
    method = method_named(settings.retrieval.method)
    if method.name == page_scorer.NAME and not settings.page_encoder.model:
        return ()
    if method.name == hirec.NAME and settings.methods.hirec.summaries == "facts":
        return ()
    return method.extensions(settings)


def _composed(name: str, first: Method, parts: Sequence[str]) -> Method:
    """``first`` with ``parts``. Raises SettingsError if they do not go together."""
    writers = {method.name: method for method in METHODS.values() if method.writer is not None}
    known = ["title", *writers, "rerank"]
    for part in parts:
        if part not in known:
            raise _refused(name, f"{part!r} is unknown after '+'; choose from {', '.join(known)}")
    if twice := next((part for part in parts if parts.count(part) > 1), None):
        raise _refused(name, f"{twice!r} is there twice")
    chosen = [writers[part] for part in parts if part in writers]
    if len(chosen) > 1 or (chosen and not first.searches):
        searching = ", ".join(method.name for method in METHODS.values() if method.searches)
        raise _refused(name, f"a query writer ({', '.join(writers)}) goes after one of {searching}, and one is enough")
    if "title" in parts and first.titles is None:
        titled = ", ".join(method.name for method in METHODS.values() if method.titles is not None)
        raise _refused(name, f"+title goes after one of {titled}")
    if "rerank" in parts and not first.flat:
        raise _refused(name, f"+rerank goes after a flat method; {first.name!r} chooses filings first")
    needs = [*first.needs, *(need for method in chosen for need in method.needs)]
    if "rerank" in parts:
        needs.append("passage reranker")
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
    """Builds the method that the settings name, without its document stage if ``retrieval.hierarchical`` is false.

    Raises SettingsError for an unknown method, or if something that it needs is not set up.
    """
    method = method_named(tools.settings.retrieval.method)
    if method.answers == "no" and tools.answers:
        able = ", ".join(name for name, other in METHODS.items() if other.answers != "no")
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

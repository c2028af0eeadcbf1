"""Passages with citations from an open index or a running service, as retrievers of other frameworks return them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from finray.client import Client
from finray.core.filing import Filing
from finray.core.filing_filter import FilingFilter
from finray.core.passages import Passage
from finray.filings.pages.page_links import PageLinks, cited

if TYPE_CHECKING:
    from finray.library import Index

Value = str | int | float


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that has the same ``id`` in every result.

    ``metadata`` has the filing, the page (``page`` from 0, ``page_label`` from 1), ``start`` and ``end`` in its text,
    ``score``, ``citation``, and ``link`` and dates if they are known.
    """

    id: str
    text: str
    score: float
    metadata: Mapping[str, Value]


class PassageSource(Protocol):
    def find(self, query: str, k: int, filings: FilingFilter | None) -> list[CitedPassage]:
        """The ``k`` best passages for ``query``, best first, from ``filings`` (None: all). Raises FinrayError."""
        ...


def passages_of(source: Index | Client) -> PassageSource:
    """The passages of an index (``finray.open_index``) or of a service (``finray.client.Client``)."""
    return ServicePassages(source) if isinstance(source, Client) else IndexPassages(source)


@dataclass(frozen=True, slots=True)
class IndexPassages:
    """Passages of an open index. Links lead to EDGAR."""

    index: Index

    def find(self, query: str, k: int, filings: FilingFilter | None) -> list[CitedPassage]:
        found = self.index.retrieve(query, filings=filings, k_passages=k)
        known: Mapping[str, Filing] = {document.filing.filing_id: document.filing for document in found.documents}
        if any(passage.filing_id not in known for passage in found.passages):
            known = self.index.engine.reader.filings().by_id
        return _cited(found.passages, PageLinks(known))


@dataclass(frozen=True, slots=True)
class ServicePassages:
    """Passages of a running service. Links lead to the service."""

    client: Client
    _known: dict[str, Filing] = field(default_factory=dict)

    def find(self, query: str, k: int, filings: FilingFilter | None) -> list[CitedPassage]:
        found = self.client.retrieve(query, narrowed=filings, k_passages=k)
        for passage in found.passages:
            if passage.filing_id not in self._known:
                self._known[passage.filing_id] = self.client.filing(passage.filing_id)
        return _cited(found.passages, PageLinks(self._known, self.client.base_url))


def _cited(passages: Iterable[Passage], links: PageLinks) -> list[CitedPassage]:
    return [
        CitedPassage(
            f"{passage.filing_id}:{passage.page}:{passage.start}",
            passage.text,
            passage.score,
            _metadata(passage, links.filings[passage.filing_id], links),
        )
        for passage in passages
    ]


def _metadata(passage: Passage, filing: Filing, links: PageLinks) -> dict[str, Value]:
    values: dict[str, Value | None] = {
        "citation": cited(filing, passage.page),
        "link": links.page(passage.filing_id, passage.page),
        "filing_id": passage.filing_id,
        "doc_name": passage.doc_name,
        "company": filing.company,
        "form": filing.form,
        "fiscal_year": filing.fiscal_year,
        "fiscal_period": filing.fiscal_period,
        "period_end": filing.period_end.isoformat() if filing.period_end else None,
        "filed_at": filing.filed_at.isoformat() if filing.filed_at else None,
        "page": passage.page,
        "page_label": str(passage.page + 1),
        "start": passage.start,
        "end": passage.end,
        "score": passage.score,
    }
    return {name: value for name, value in values.items() if value is not None}

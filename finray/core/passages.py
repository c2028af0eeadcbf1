"""What retrieval finds: documents and passages, and their places.

A *passage* is a chunk that was retrieved, *evidence* a passage that the curator kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from finray.core.filing import Filing
from finray.core.records import OmitEmpty, Record

EvidenceKind = Literal["table", "prose"]
PageKey = tuple[str, int]
"""(filing_id, page)"""


@dataclass(frozen=True, slots=True)
class DocumentRef(Record):
    """A filing that document retrieval proposed, as a prediction names it: the index describes it."""

    doc_name: str
    filing_id: str
    score: float
    company: OmitEmpty[str] = ""
    form: OmitEmpty[str] = ""
    reasons: OmitEmpty[tuple[str, ...]] = ()
    """Why it ranked there."""


@dataclass(frozen=True, slots=True)
class Document:
    """A filing that document retrieval proposed. ``reasons`` explain its rank."""

    filing: Filing
    score: float
    reasons: tuple[str, ...] = ()

    @property
    def ref(self) -> DocumentRef:
        filing = self.filing
        return DocumentRef(filing.doc_name, filing.filing_id, self.score, filing.company, filing.form, self.reasons)


@dataclass(frozen=True, slots=True)
class PageRef(Record):
    """The page of a passage, without its text."""

    doc_name: str
    filing_id: str
    page: int


@dataclass(frozen=True, slots=True)
class PassageRef(PageRef):
    """The place of a passage, without its text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage(PassageRef):
    """A chunk that was retrieved; also the shape of evidence."""

    text: str
    """Characters ``start`` to ``end`` of the page's text."""
    score: float


@dataclass(frozen=True, slots=True)
class RenderedBlock(Record):
    """Evidence for a reader: a table with its title, heads and units, or prose with its heading."""

    id: str
    """``e1``, ``e2``, …: unique in its prediction."""
    doc_name: str
    filing_id: str
    page: int
    kind: EvidenceKind
    heading: str
    """The table's title, or the heading above the prose."""
    text: str
    """Markdown without HTML. ``|``, ``\\`` and ``<`` of the filing are escaped by ``\\``; a row that is left out is
    counted in the last line."""

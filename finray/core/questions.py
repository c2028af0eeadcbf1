"""A question, and the gold evidence that a benchmark gives for it."""

from __future__ import annotations

from dataclasses import dataclass

from finray.core.records import OmitEmpty, OmitNone, Record


@dataclass(frozen=True, slots=True)
class GoldEvidence(Record):
    """One gold page, or a gold filing whose page is unknown."""

    doc_name: str
    """The source file's stem, or the accession number."""
    page: OmitNone[int | None] = None
    """Metrics of pages leave out evidence without it."""
    text: OmitNone[str | None] = None
    alternative_pages: OmitEmpty[tuple[int, ...]] = ()
    """Other pages of the same filing that show the same: any one of them counts as this gold page."""
    start: OmitNone[int | None] = None
    """The gold characters of the page's text are those from ``start`` up to ``end``; absent if the whole page is
    gold."""
    end: OmitNone[int | None] = None

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """Every (doc_name, page) that counts as this evidence; none if its page is unknown."""
        return frozenset((self.doc_name, page) for page in self.pages)

    @property
    def pages(self) -> tuple[int, ...]:
        """The gold page and its alternatives; () if unknown."""
        return () if self.page is None else (self.page, *self.alternative_pages)


@dataclass(frozen=True, slots=True)
class Question(Record):
    """A question and, if known, its gold answer: one line of a question file."""

    qid: str
    """Unique in the file; a number is taken as text."""
    question: str
    """At most ``bulk.max_question_characters`` long."""
    answer: OmitNone[str | None] = None
    """The gold answer for a person; a number is taken as text."""
    question_type: OmitNone[str | None] = None
    """Reports are broken down by it. For a type that begins with ``unanswerable``, a refusal is right."""
    evidence: OmitEmpty[tuple[GoldEvidence, ...]] = ()
    """The gold pages."""
    value: OmitNone[float | None] = None
    """The gold number, in ``unit``; anything but a number is ignored."""
    unit: OmitNone[str | None] = None
    """``USD``, ``USD/share``, ``percent``, ``ratio``, ``shares``, …"""
    program: OmitNone[str | None] = None
    """The arithmetic behind the gold answer, or the tagged fact it is."""
    source: OmitNone[str | None] = None
    """The data set that the question was made from: ``finqa``, ``financebench``, ``secqa``."""
    context: OmitEmpty[tuple[str, ...]] = ()
    """Earlier questions of the conversation, oldest first: what the question lacks is taken from them."""

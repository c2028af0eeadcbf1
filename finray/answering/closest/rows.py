"""Adds the printed rows or sentences closest to a question to its refusal, if they likely bear on it.

It stays a refusal and states nothing, but a reader who knows the filing sees at once whether the rows answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from finray.answering.closest.features import ClosestCandidates, closest_candidates
from finray.answering.closest.model import ClosestModel, question_signals, shipped_closest_model
from finray.answering.plans.coverage import fitting_period
from finray.answering.sentences.quotes import matched_share
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import Curation
from finray.evidence.candidates import Prose
from finray.evidence.rendering import prose_text, table_text
from finray.evidence.selection import with_context
from finray.index.reading.facts import FilingFacts
from finray.question.measures.definitions import unread_definition

LEAD: Final = "Closest in the filing:"
MOST_CHARACTERS = 2_500


class ClosestRows:
    """Chooses by ``model``, by default the one that comes with finray."""

    def __init__(self, facts: FilingFacts, model: ClosestModel | None = None) -> None:
        self._facts = facts
        self._model = model

    def shown(self, refusal: Answer, query: Query, curation: Curation, journal: Journal) -> Answer:
        """``refusal`` with the rows and their heads; unchanged if no row is likely enough to bear on the question."""
        absent = curation.coverage.absent if curation.coverage is not None else ()
        if any(operand.phrase is None for operand in absent):
            return refusal  # the statements, which were searched whole, lack the line item
        if len(query.companies) > 1 or unread_definition(query.question) is not None:
            return refusal  # rows of one company, or with the words of a definition, would mislead
        found = self.candidates(query, curation)
        if not found.pieces:
            return refusal
        model = self._model or shipped_closest_model()
        chosen, probability = model.choose(found, question_signals(query))
        journal.note(f"answer: the closest of {len(found.pieces)} rows bear on the question with {probability:.2f}")
        if probability < model.threshold:
            return refusal
        parts, evidence = rendered(found, chosen)
        if query.metrics and query.unexplained and not matched_share(query.unexplained, " ".join(parts)):
            return refusal  # only the metric, without the words that narrow it: "goodwill" for its impairment
        text = "\n\n".join((refusal.text, LEAD, *parts))
        return replace(refusal, text=text, evidence=evidence, closest=True)

    def candidates(self, query: Query, curation: Curation) -> ClosestCandidates:
        return closest_candidates(query, fitting_period(query, curation.kept, self._facts), self._facts)


def rendered(found: ClosestCandidates, chosen: Sequence[int]) -> tuple[list[str], tuple[Passage, ...]]:
    """(texts, evidence): each part with chosen rows or sentences, best part first, and where its page prints it."""
    shown: dict[tuple[int, int], set[int]] = {}
    for number in chosen:
        place, at, piece = found.pieces[number]
        shown.setdefault((place, at), set()).update(with_context(found.pages[place].parts[at], piece))
    texts: list[str] = []
    evidence: list[Passage] = []
    for (number, at), pieces in shown.items():
        page = found.pages[number]
        part = page.parts[at]
        if isinstance(part, Prose):
            text = prose_text(part, pieces)
            start, end = part.sentences[min(pieces)].start, part.sentences[max(pieces)].end
        else:
            text = table_text(part, pieces)
            start, end = part.start, part.end
        if texts and sum(map(len, texts)) + len(text) > MOST_CHARACTERS:
            continue
        texts.append(f"{page.filing.doc_name}, p. {page.page.page + 1}:\n{text}")
        score = max(passage.score for passage in page.passages)
        filing_id, printed = page.filing.filing_id, page.page.text[start:end]
        evidence.append(Passage(page.filing.doc_name, filing_id, page.page.page, start, end, printed, score))
    return texts, tuple(evidence)

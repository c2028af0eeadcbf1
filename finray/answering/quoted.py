"""Answers in words: quotes the sentence or reported event that answers the question, with its page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from finray.answering.quotes import (
    Quote,
    best_quote,
    closest_sentence,
    is_table,
    matched_share,
    quoted_number,
    reported_event,
)
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.types import Answer, Passage
from finray.index.facts import FilingFacts
from finray.models.encoder import Encoder
from finray.question.definitions import unread_definition
from finray.question.terms import content_terms

MIN_WORTH = 0.4
"""Smallest mean of word coverage and cosine of a quotation that answers."""
MIN_HELD = 0.6
"""Share of the words narrowing a known metric ("net interest margin") that a quotation must contain."""
MIN_AMOUNT_COVERAGE = 0.5
"""Share of the question's words that a sentence must contain if it answers with an amount."""
_STATES = re.compile(r"\b(?:was|were|is|are|had|have|totaled|amounted)\b[^|]*\d[^|]*\.\W*$", re.I)
_QUOTED_PASSAGES = 10


def quoted(
    query: Query,
    passages: Sequence[Passage],
    facts: FilingFacts,
    encoder: Encoder,
    journal: Journal,
    *,
    amount: bool = False,
) -> Answer:
    """The sentence that answers, else a refusal. ``amount``: no row surely prints the amount, so quote no table."""
    event = _event(query, passages, facts)
    if event is not None:
        return event
    names = [*query.names, *(facts.company_name(company) for company in query.companies)]
    prose = "words" in query.intents
    quote = best_quote(query.text, passages[:_QUOTED_PASSAGES], encoder, names, prose=prose)
    if quote is not None:
        journal.note(f"answer: quotation covers {quote.coverage:.2f} of the words, cosine {quote.similarity:.2f}")
    narrow = quote is not None and matched_share(query.unexplained, quote.text) < MIN_HELD
    narrow = narrow and bool(query.metrics) and not prose
    if quote is None or quote.worth < MIN_WORTH or narrow:
        unread = unread_definition(query.question)
        other = (f"a definition that is understood, in place of {excerpt(unread, 80)!r}",) if unread else ()
        return Answer.refused(*other, f"a passage that surely answers {query.text!r}")
    number = quoted_number(query.question, quote)
    text = f"“{quote.text}” ({quote.passage.doc_name}, p. {quote.passage.page + 1})"
    if amount and (quote.coverage < MIN_AMOUNT_COVERAGE or (number is None and not _states_amount(query, quote))):
        return Answer.refused(f"a figure for {query.text!r}")
    if number is None:
        return Answer(text, "answered", evidence=(quote.passage,))
    return Answer(text, "answered", number.value, number.unit, evidence=(quote.passage,))


def _event(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> Answer | None:
    """Quote the Item of a current report: a question about the reported event shares no words with it."""
    first = passages[0]
    current = facts.filing(first.filing_id).form.startswith("8-K")
    if not (current and "8-K" in query.forms and "event" in query.intents):
        return None
    own = [p for p in passages if p.filing_id == first.filing_id]
    text = reported_event(own)
    if text is None:
        return None
    source = next((p for p in own if text[:40] in " ".join(p.text.split())), first)
    return Answer(f"“{text}” ({source.doc_name}, p. {source.page + 1})", "answered", evidence=(source,))


def _states_amount(query: Query, quote: Quote) -> bool:
    """Whether the sentence nearest to the question has figures and is no table: tables were searched already."""
    sentence = closest_sentence(query.text, quote.text)
    after_table = sentence.rpartition(" | ")[2]
    if after_table != sentence and _STATES.search(after_table):
        return matched_share(content_terms(query.text), after_table) >= MIN_AMOUNT_COVERAGE
    return any(map(str.isdigit, sentence)) and not is_table(sentence)

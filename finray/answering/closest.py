"""Quotes the closest passage if the index covers the subject but no row or sentence surely answers.

The quotation claims no figure. For an amount, one stretch of text must contain what is asked for, in some wording;
otherwise the company does not report it, and the honest answer is a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from finray.answering.coverage import fitting_period
from finray.answering.quotes import best_quote, stretches
from finray.core.query import Query
from finray.core.types import Answer, Passage
from finray.index.facts import FilingFacts
from finray.models.encoder import Encoder
from finray.question.synonyms import variants, words_of
from finray.question.words import word_list

MIN_NAMED = 0.7
"""Share of the asked words that one stretch must contain to be quoted for an amount."""
MIN_SIMILARITY = 0.2
_QUOTED_PASSAGES = 10
_COMMON = frozenset(word for text in word_list("common") for word in words_of(text))
_DIGITS = re.compile(r"\d")


def closest_passage(query: Query, passages: Sequence[Passage], facts: FilingFacts, encoder: Encoder) -> Answer | None:
    """A quotation from filings of the period asked for; None if no passage is about the subject."""
    fitting = fitting_period(query, passages, facts)[:_QUOTED_PASSAGES]
    amount = "amount" in query.intents
    names = [*query.names, *(facts.company_name(company) for company in query.companies)]
    if amount:
        wordings = _wordings(query, names)
        fitting = tuple(p for p in fitting if _contains(p, wordings))
    quote = best_quote(query.text, fitting, encoder, names, prose=not amount)
    if quote is None or quote.similarity < MIN_SIMILARITY:
        return None
    lead = "No figure for this could be read with certainty. Closest" if amount else "Closest"
    text = f"{lead} passage: “{quote.text}” ({quote.passage.doc_name}, p. {quote.passage.page + 1})"
    return Answer(text, "answered", evidence=(quote.passage,))


def _wordings(query: Query, names: Sequence[str]) -> list[frozenset[str]]:
    """What is asked for, as sets of words, in the wordings of tables and texts."""
    drop = _COMMON | {word for name in names for word in words_of(name)}
    words = tuple(word for word in words_of(query.text) if word not in drop and not _DIGITS.search(word))
    return [frozenset(wording) for wording in variants(words)]


def _contains(passage: Passage, wordings: Sequence[frozenset[str]]) -> bool:
    texts = [frozenset(words_of(stretch)) for stretch in stretches(passage.text)]
    return any(len(wording & words) >= MIN_NAMED * len(wording) for wording in wordings if wording for words in texts)

"""What a question asks of a table cell: words, wordings of them, phrases, figures and periods."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from finray.answering.asked_words import asked_words
from finray.answering.cells.operands import phrase_periods
from finray.core.filing import Filing
from finray.core.plan import Operand, Phrase
from finray.core.query import Query
from finray.core.vocabulary import NUMBER, number_of
from finray.index.reading.facts import FilingFacts
from finray.question.measures.named import quantity_phrases
from finray.question.measures.phrase import phrase_of, without_context
from finray.question.synonyms import variants, words_of
from finray.question.terms import stem

FIGURES: Final = frozenset(map(str, range(100)))
_VARIANTS = 8
"""How many wordings of the question are compared with each cell."""
_NUMBER = re.compile(rf"\b{NUMBER}\b")
_LETTERS = re.compile(r"[A-Za-z][A-Za-z&]*")


@dataclass(frozen=True, slots=True)
class AskedCell:
    """What the question asks of a cell: its content ``words``, wordings of them (``readings``), and ``phrases`` that
    name a row."""

    words: tuple[str, ...]
    readings: tuple[frozenset[str], ...]
    phrases: tuple[Phrase, ...]
    figures: frozenset[str]
    """Numbers besides dates: "Level 2"."""
    short: Mapping[str, frozenset[str]]
    """The question's :func:`short_forms`."""
    instant: bool
    """A balance of a day is asked for."""

    @classmethod
    def of(cls, query: Query) -> Self:
        text = without_context(query.text, query.names)
        known = frozenset(words_of(text))
        words = tuple(word for word in asked_words(query) if word in known)
        figures = known & FIGURES | {str(number_of(word)) for word in _NUMBER.findall(text.lower())}
        readings = tuple(dict.fromkeys(frozenset(each) for each in variants(words)[:_VARIANTS]))
        phrases = [*quantity_phrases(query)]
        phrases += [phrase for measures in query.measures for phrase in measures.phrases.values()]
        if not phrases and (whole := phrase_of(query.text, query.names)) is not None:
            phrases.append(whole)
        instant = "closing" in query.intents or any(phrase.instant for phrase in phrases)
        return cls(words, readings, tuple(dict.fromkeys(phrases)), frozenset(figures), short_forms(text), instant)


def short_forms(text: str) -> Mapping[str, frozenset[str]]:
    """The initials of two to five successive words of ``text``, as filings abbreviate them ("NAB", "RSU"), with the
    words that each stands for."""
    spelled = _LETTERS.findall(text)
    found: dict[str, frozenset[str]] = {}
    for size in range(2, 6):
        for start in range(len(spelled) - size + 1):
            part = spelled[start : start + size]
            words = frozenset(words_of(" ".join(part)))
            if len(words) >= 2:
                found.setdefault(stem("".join(word[0] for word in part).lower()), words)
    return found


def asked_periods(
    query: Query, asked: AskedCell, filing: Filing, facts: FilingFacts
) -> list[tuple[dt.date, int | None]]:
    """(end, months) in ``filing`` of each period that the question asks for, months None for a day. Without one in the
    question, those of the filing itself."""
    phrase = Phrase(query.text, asked.words, (), "money", asked.instant)
    company = facts.company_of(filing.filing_id)
    found = []
    for period in query.asked:
        operand = Operand("x", company, "x", period, "", phrase)
        found += [(end, months) for _, end, months in phrase_periods(operand, phrase, [filing], ahead=True)]
    if not query.asked and filing.closes is not None:
        quarter = filing.fiscal_period in ("Q1", "Q2", "Q3")
        found = [(filing.closes, None if asked.instant else 3 if quarter else 12)]
    return found


def shortened(readings: Sequence[frozenset[str]], short: Mapping[str, frozenset[str]]) -> Iterator[frozenset[str]]:
    """``readings`` with initials in place of the words that they stand for, one at a time and all at once."""
    for reading in readings:
        for name, words in short.items():
            yield (reading - words) | {name}
        if len(short) > 1:
            yield reading.difference(*short.values()) | set(short)

"""What an index lacks for a question, and the nearest thing in it."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from finray.answering.plans.coverage import fitting_period
from finray.core.filing import Filing, LineItem
from finray.core.passages import Passage
from finray.core.query import Query
from finray.index.reading.facts import FilingFacts, kept_with
from finray.question.synonyms import word_set, words_of
from finray.question.words import word_list
from finray.retrieval.filing_match import PERIOD_MATCH, period_fit

_SHOWN = 3
_NAME = re.compile(r"[A-Z][\w&.’'-]{0,99}[a-z][\w&’'-]*")
_NOT_A_NAME = word_list("not_a_name")
_SENTENCE_START = re.compile(r"(?:^|[.?!:]\s++)$")
_NEAR = 10
"""This many characters before a name are searched for the end of another sentence."""


@dataclass(frozen=True, slots=True)
class Absence:
    """``missing`` names what the question needs and the index lacks, ``nearest`` what comes closest to it. Both are for
    people to read."""

    missing: tuple[str, ...]
    nearest: tuple[str, ...] = ()


def absence(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> Absence | None:
    """The company or the period that no filing of the index is about; None if it has both."""
    companies = _absent_companies(query) or tuple(filter(None, (_unmatched_name(query, passages),)))
    if companies:
        similar = dict.fromkeys(each for company in companies for each in _similar_companies(company, facts))
        return Absence(tuple(f"filings of {company}" for company in companies), tuple(similar))
    if not (query.over_all or fitting_period(query, passages, facts) or _has_filing(query, facts)):
        return Absence(missing_filing(query), _near_filings(query, facts))
    return None


def missing_filing(query: Query) -> tuple[str, ...]:
    """Describes the filing that the index lacks, for people to read."""
    if query.unknown_companies and not query.companies:
        return tuple(f"filings of {name}" for name in query.unknown_companies)
    owner = f" of {' and '.join(dict.fromkeys(query.names))}" if query.names else ""
    periods = ", ".join(str(period) for period in query.filed)
    return (f"a filing{owner} for {periods}" if periods else f"a filing{owner} on this subject",)


def _absent_companies(query: Query) -> tuple[str, ...]:
    """The companies that the question needs and the index lacks. If the question names a company that the index has,
    only those that it compares with that."""
    if not query.companies:
        return query.unknown_companies
    if "between" not in query.intents:
        return ()
    return tuple(name for name in query.unknown_companies if is_compared(query, name))


def is_compared(query: Query, name: str) -> bool:
    """Whether ``name`` is set beside a company, as in "Acme and Widget", "than that of Widget" or "Widget's". Mexico is
    not in "Acme's sales in Mexico rose between 2016 and 2017"."""
    found = re.escape(name)
    if re.search(rf"{found}['’]|\b(?:that|those|the one) of {found}|\b(?:than|versus|vs\.?) {found}", query.text, re.I):
        return True
    companies = "|".join(re.escape(query.text[s.start : s.end]) for s in query.spans if s.kind == "company")
    beside = r"(?:['’]s?)?(?:, | and | or | with | to |, and )(?:(?:that )?of |at )?"
    return bool(companies) and (
        re.search(rf"(?:{companies}){beside}{found}|{found}{beside}(?:{companies})", query.text, re.I) is not None
    )


def _has_filing(query: Query, facts: FilingFacts) -> bool:
    """Whether a company has a filing of the period asked for, though no passage is from it."""
    filings = (filing for company in query.companies for filing in facts.filings_of(company))
    return any(period_fit(filing, query.filed)[0] >= PERIOD_MATCH for filing in filings)


def _unmatched_name(query: Query, passages: Sequence[Passage]) -> str | None:
    """A capitalized name that is in no passage, if the question names no company of the index. Most likely it is a
    company that the index lacks and that the catalog did not recognize as a name."""
    if query.companies:
        return None
    matched: set[tuple[str, bool]] = set()
    for run in _names(query):
        at = query.text.index(run)
        first = (run.split()[0], _SENTENCE_START.search(query.text, max(0, at - _NEAR), at) is not None)
        if first not in matched and not any(_contains(passage.text, *first) for passage in passages):
            return run
        matched.add(first)
    return None


def _contains(text: str, word: str, any_case: bool) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text, re.I if any_case else 0) is not None


def _names(query: Query) -> list[str]:
    """Runs of capitalized words that are neither common in questions nor explained."""
    unexplained = set(query.unexplained)
    runs: list[list[str]] = [[]]
    end = 0
    for match in _NAME.finditer(query.text):
        word = re.sub(r"['’]s?$", "", match.group())
        if query.text[end : match.start()].strip(" &"):
            runs.append([])
        end = match.end()
        if word.lower() in unexplained and word.lower() not in _NOT_A_NAME:
            runs[-1].append(word)
    return [" ".join(run) for run in runs if run and " ".join(run) in query.text]


def _similar_companies(name: str, facts: FilingFacts) -> tuple[str, ...]:
    known = sorted(facts.company_names())
    lowered = {each.lower(): each for each in known}
    close = [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, n=_SHOWN)]
    if close:
        return tuple(close)
    some = ", ".join(known[:_SHOWN]) + (", …" if len(known) > _SHOWN else "")
    return (f"{len(known)} other companies ({some})",) if known else ()


def _near_filings(query: Query, facts: FilingFacts) -> tuple[str, ...]:
    """The companies' filings of the fiscal years nearest to the latest year asked for."""
    latest = query.latest
    if latest is None:
        return ()
    dated = [
        (abs(filing.fiscal_year - latest.year), -filing.fiscal_year, filing.doc_name, filing)
        for company in query.companies
        for filing in facts.filings_of(company)
        if filing.fiscal_year is not None
    ]
    return tuple(dict.fromkeys(_described(filing) for *_, filing in sorted(dated, key=lambda row: row[:3])))[:_SHOWN]


def near_rows(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> tuple[str, ...]:
    """The rows of the best passage's filing that share the most words with the question."""
    if not passages:
        return ()
    filing = facts.filing(passages[0].filing_id)
    wanted = frozenset(words_of(" ".join((*query.unexplained, *query.terms))))
    best = kept_with(facts.line_items([filing.filing_id])[filing.filing_id], _Labels).nearest(wanted, _SHOWN)
    return tuple(f"“{' '.join(item.label.split())}” ({filing.doc_name}, p. {item.page + 1})" for item in best)


class _Labels:
    """The labels of a filing's rows by their words, each as it is first printed."""

    def __init__(self, items: Sequence[LineItem]) -> None:
        first: dict[str, LineItem] = {}
        for item in items:
            first.setdefault(item.label.lower(), item)
        self._items = tuple(first.values())
        self._sizes: list[int] = []
        self._having: dict[str, list[int]] = {}
        for number, item in enumerate(self._items):
            words = word_set(item.label)
            self._sizes.append(len(words))
            for word in words:
                self._having.setdefault(word, []).append(number)

    def nearest(self, wanted: frozenset[str], most: int) -> list[LineItem]:
        """At most this many items whose labels share the largest part of their words with ``wanted``, best first."""
        shared = Counter(number for word in wanted for number in self._having.get(word, ()))
        scores = {number: count / (self._sizes[number] + len(wanted) - count) for number, count in shared.items()}
        best = sorted(scores, key=lambda number: (-scores[number], number))
        return [self._items[number] for number in best[:most]]


def _described(filing: Filing) -> str:
    """For example "Acme Corp, 10-K for FY 2022"."""
    period = f"{filing.fiscal_period or 'FY'} {filing.fiscal_year}"
    return f"{filing.company}, {filing.form} for {period}"

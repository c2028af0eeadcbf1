"""The gold pages of a question: the best page, and equivalent alternatives."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from finray.core.questions import GoldEvidence
from finray.lab.datasets.xbrl.tagged import Fact, Place, TaggedFiling

_PRIMARY = ("income", "balance", "cash_flow")
_UNMISTAKABLE = 6
"""A number with this many digits is the same fact regardless of the words beside it."""
_MIN_DIGITS = 4
"""Numbers with fewer digits are too common: "12" is on every page."""
_WORD = re.compile(r"[a-z]{4,}")
_EMPTY_WORDS = frozenset(("total", "other", "less", "from", "with", "that", "this", "million", "company"))


def gold_evidence(tagged: TaggedFiling, facts: Sequence[Fact], words: str) -> tuple[GoldEvidence, ...]:
    """The evidence for ``facts``, in their order.

    If a page prints all facts, it is one page: that of a primary statement, else the first. Otherwise it is a page for
    each fact. Other pages that print the same are alternatives, tagged or not, since management's discussion repeats
    the statements without tags. ``words`` are those of the question's subject.
    """
    shown = [set(fact.pages) for fact in facts]
    repeated = [pages | _repeats(tagged, fact, words) for pages, fact in zip(shown, facts, strict=True)]
    common = set.intersection(*shown)
    if common:
        return (_evidence(tagged, facts, common, set.intersection(*repeated)),)
    return tuple(
        _evidence(tagged, [fact], pages, also) for fact, pages, also in zip(facts, shown, repeated, strict=True)
    )


def best_page(tagged: TaggedFiling, pages: Collection[int]) -> int:
    """The page of a primary statement if there is one, else the first."""
    return min(pages, key=lambda number: (_rank(tagged, number), number))


def _evidence(tagged: TaggedFiling, facts: Sequence[Fact], pages: set[int], also: set[int]) -> GoldEvidence:
    best = best_page(tagged, pages)
    lines = dict.fromkeys(place.line for fact in facts for place in fact.places if place.page == best)
    return GoldEvidence(tagged.filing.doc_name, best, "\n".join(lines), tuple(sorted(also - {best})))


def _rank(tagged: TaggedFiling, number: int) -> int:
    statement = tagged.pages[number].statement
    return _PRIMARY.index(statement) if statement in _PRIMARY else len(_PRIMARY)


def _repeats(tagged: TaggedFiling, fact: Fact, words: str) -> set[int]:
    """Pages with the printed number in a line that has a word of the fact's row or of ``words`` (or many digits)."""
    known = _content(words).union(*(_content(place.label) for place in fact.places))
    found = set()
    for printed in {place.printed: place for place in fact.places}.values():
        digits = sum(character.isdigit() for character in printed.printed)
        if digits < _MIN_DIGITS:
            continue
        number = re.compile(rf"(?<![\d,.]){re.escape(_digits(printed))}(?![\d,]|\.\d)")
        for page in tagged.pages:
            if page.page not in fact.pages and number.search(page.text):
                lines = [line for line in page.text.split("\n") if number.search(line)]
                if digits >= _UNMISTAKABLE or any(known & _content(line) for line in lines):
                    found.add(page.page)
    return found


def _digits(place: Place) -> str:
    return place.printed.strip("$€£()% ")


def _content(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _EMPTY_WORDS

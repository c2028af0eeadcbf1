"""What a question names and where: companies, periods, its subject, and the words that refer to an earlier question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from finray.core.period import Period
from finray.core.query import Query, Span, SpanKind
from finray.question.intents import names_cause
from finray.question.measures.phrase import period_phrases, phrase_of
from finray.question.periods.named import last_years_span, period_spans
from finray.question.periods.relative_periods import Relative, relative_periods
from finray.question.words import blanked, word_list

Place = tuple[int, int]

_LEAD = re.compile(
    r"\W*(?:(?:and|but|so|or|ok(?:ay)?|now|also|then|well|please|thanks|thank you|yes|no|hm+|i see|got it|likewise)\b"
    r"[\s,;:.!–—-]*)*"
    r"(?:(?:what|how) about\b|"
    r"(?:(?:the )?same(?: again)?(?: question| thing| figure| number)?|do(?: it)?) (?=for|in|with|at|of))?\s*",
    re.I,
)
_LEADS = re.compile(r"^\W*(?:and|but|or|also|then|likewise)\b|\b(?:what|how) about\b|^\W*(?:the )?same\b", re.I)
_VERB = re.compile(
    r"\b(?:was|were|is|are|did|does|do|has|have|had|will|would|should|what|how|which|who|whose|when|where|list|name|"
    r"show|give|tell|calculate|compute|find|explain|describe|summari[sz]e)\b",
    re.I,
)
_POSSESSIVE = re.compile(r"\b(?:its|their|the (?:company|firm|group|business)['’]s)(?!\w)", re.I)
_PRONOUN = re.compile(
    r"\b(?:it|they|them|(?:the|that|this) (?:company|firm|figure|number|amount)|"
    r"(?:that|this|those|these)(?=\W*$|\s+(?:is|was|were|are|compares?|changed?|gr[eo]w|rise|rose|fall|fell|"
    r"increased?|decreased?|declined?|drop(?:ped)?|higher|lower|as|in|than|to|vs|versus|with|between|from|by|develop\w*)\b))\b",
    re.I,
)
_ANY_COMPANY = re.compile(
    r"\b(?:which|what|any|all|each|every|other|how many|these|the|two|three) (?:of the )?(?:\w+ )?"
    r"(?:companies|firms|registrants)\b|"
    r"\b(?:which|what|any|each|every|another|other) (?:company|firm|registrant|one)\b|^\W*who had\b",
    re.I,
)
_ANY_PERIOD = re.compile(
    r"\b(?:which|what|any|each|every|all) (?:fiscal )?(?:years?|quarters?|periods?)\b|\bwhen\b", re.I
)
_PLACE_BEFORE = re.compile(r"\b(?:in|within|across|from|throughout|inside|outside) (?:the )?$", re.I)
_PART_OF = re.compile(
    r"^(?:only |just )?(?P<preposition>in|within|across|for|from|on|at|by|excluding|including|before|after|without|"
    r"outside|net of)\b",
    re.I,
)
_PREPOSITION_BEFORE = re.compile(
    r"\b(?:in|within|across|for|from|excluding|including|before|after|without|outside|net of) (?:(?:the|its) )?$", re.I
)
_SEGMENT = re.compile(
    r"\b(?:segments?|regions?|divisions?|businesses|business|units?|geograph\w+|countries|subsidiar\w+)\W*$", re.I
)
_WORD = re.compile(r"[^\W_][\w&'’.-]*[\w]|[^\W_]")


@dataclass(frozen=True)
class Parts:
    """The parts of the question of ``query``, whose text must be the question itself: places are (start, end) in it."""

    query: Query

    @property
    def text(self) -> str:
        return self.query.text

    @cached_property
    def lead(self) -> int:
        """Where the question begins after "and", "what about" and the like."""
        match = _LEAD.match(self.text)
        return match.end() if match is not None and match.end() < len(self.text) else 0

    @cached_property
    def refers(self) -> bool:
        """Whether it begins like a continuation: "and", "what about"."""
        return _LEADS.search(self.text) is not None

    @cached_property
    def names(self) -> tuple[Place, ...]:
        """Where it names companies, in the index or not; "Europe" in "in Europe" is not one."""
        found = list(self._places("company"))
        for name in self.query.unknown_companies:
            at = self.text.find(name)
            bare = name[:-2] if name.endswith(("'s", "’s")) else name
            if at >= 0 and _PLACE_BEFORE.search(self.text[:at]) is None:
                found.append((at, at + len(bare)))
        return tuple(sorted(found))

    @property
    def companies(self) -> frozenset[str]:
        """Keys of the companies named, or the names of those that the index lacks."""
        known = {span.start: span.value for span in self._spans("company")}
        return frozenset([*known.values(), *(self.text[start:end] for start, end in self.names if start not in known)])

    @cached_property
    def metrics(self) -> tuple[Place, ...]:
        return self._places("metric")

    @cached_property
    def operators(self) -> frozenset[str]:
        return frozenset(span.value for span in self._spans("operator"))

    @cached_property
    def units(self) -> tuple[Place, ...]:
        return self._places("unit")

    @cached_property
    def absolute(self) -> tuple[tuple[int, int, Period], ...]:
        """(start, end, period) of each period that is named with its year."""
        return period_spans(self.text)

    @cached_property
    def relative(self) -> tuple[Relative, ...]:
        """Periods that are counted from another; empty if any is named with its year."""
        return () if self.absolute or self.span_of_years else relative_periods(self.text)

    @cached_property
    def span_of_years(self) -> Place | None:
        """Where it says "the last n years"."""
        return last_years_span(self.text)

    @cached_property
    def period_places(self) -> tuple[Place, ...]:
        """Phrases of periods with their prepositions, in reading order."""
        own = [(start, end) for start, end, _ in self.absolute]
        own += [(each.start, each.end) for each in self.relative]
        own += [self.span_of_years] if self.span_of_years is not None else []
        phrases = [place for place in period_phrases(self.text) if any(_overlap(place, each) for each in own)]
        places = _joined(self.text, [self._with_preposition(place) for place in [*own, *phrases]])
        return tuple((max(start, self.lead), end) if end > self.lead else (start, end) for start, end in places)

    @cached_property
    def any_company(self) -> bool:
        """Whether it asks about companies that it does not name: "which company"."""
        return _ANY_COMPANY.search(self.text) is not None or {"which_one", "compares"} <= self.query.intents

    @cached_property
    def any_period(self) -> bool:
        return _ANY_PERIOD.search(self.text) is not None

    @property
    def has_period(self) -> bool:
        return bool(self.absolute or self.span_of_years or self.relative or self.any_period)

    @cached_property
    def content(self) -> tuple[Place, ...]:
        """Words that are neither company, period, metric nor operator, nor ask for something: what is asked for, if no
        metric is."""
        covered = [*self.names, *self.metrics, *self.units, *self.period_places]
        covered += self._places("operator", "form", "statement", "definition")
        words = word_list("asking")
        return tuple(
            match.span()
            for match in _WORD.finditer(self.text, self.lead)
            if not any(_overlap(match.span(), place) for place in covered)
            and re.sub(r"['’]s?$", "", match.group().lower().strip(".'’")) not in words
            and match.group().lower() not in words
        )

    @cached_property
    def runs(self) -> tuple[Place, ...]:
        """``content`` that is not common in numeric questions, with neighboring words as one."""
        runs: list[Place] = []
        common = word_list("common")
        for start, end in self.content:
            if self.text[start:end].lower() in common:
                continue
            if runs and not self.text[runs[-1][1] : start].strip():
                runs[-1] = (runs[-1][0], end)
            else:
                runs.append((start, end))
        return tuple(runs)

    @cached_property
    def cause(self) -> bool:
        return names_cause(self.text)

    @property
    def has_subject(self) -> bool:
        return bool(self.metrics or self.content) and not (self.cause and not self.metrics and not self.names)

    @cached_property
    def is_sentence(self) -> bool:
        return _VERB.search(self.text, self.lead) is not None

    @cached_property
    def pronoun(self) -> re.Match[str] | None:
        return _PRONOUN.search(self.text, self.lead)

    @cached_property
    def possessive(self) -> re.Match[str] | None:
        return _POSSESSIVE.search(self.text, self.lead)

    @cached_property
    def narrows(self) -> re.Match[str] | None:
        """The preposition with which it narrows what was asked: "in Europe", "excluding goodwill"."""
        if self.metrics or not self.content:
            return None
        return _PART_OF.match(self.text[self.lead :])

    @cached_property
    def names_segment(self) -> bool:
        return bool(self.content) and not self.metrics and _SEGMENT.search(self.text) is not None

    @cached_property
    def subject(self) -> Place | None:
        """Where it names what it asks for, in one piece; None if the words stand apart or are several metrics."""
        if len(self.metrics) > 1:
            return None
        names = [*self.query.names, *self.query.unknown_companies]
        phrase = phrase_of(self.text, names, moving=True, aggregate=True)
        found = None
        if phrase is not None:
            at = self.text.lower().find(phrase.text.lower())
            found = (at, at + len(phrase.text)) if at >= 0 else None
        metric = self.metrics[0] if self.metrics else None
        if metric is None or (found is not None and _overlap(found, metric) and self.query.unexplained):
            place = found
        else:
            # Another word may make it another row ("receivables allowance"), unless it names a part ("in Europe").
            place = metric if all(_PREPOSITION_BEFORE.search(self.text[:start]) for start, _ in self.runs) else None
        return None if place is None else self._without_article(place)

    @property
    def topic(self) -> str | None:
        """Company and subject as a noun phrase: "Acme's revenue"."""
        if self.subject is None or len(self.companies) > 1:
            return None
        if any(not _overlap(run, self.subject) for run in self.runs):
            return None  # a noun phrase of company and subject alone would be about more than was asked
        subject = self.text[self.subject[0] : self.subject[1]]
        if not self.names:
            return subject
        return f"{possessive(self.name)} {subject}"

    @property
    def name(self) -> str:
        """The words from its first company to its last."""
        return self.text[self.names[0][0] : self.names[-1][1]]

    @property
    def when(self) -> str | None:
        """Its phrase of periods, with a preposition; None if it has none or several."""
        if len(self.period_places) != 1:
            return None
        start, end = self.period_places[0]
        phrase = re.sub(r"^of (?:the )?", "", self.text[start:end].strip(" ,"))
        return phrase if re.match(r"[a-z]", phrase) and not re.match(r"fiscal|the\b", phrase) else f"in {phrase}"

    def without(self, *places: Iterable[Place], start: int = 0) -> str:
        """The text from ``start`` without ``places``: single-spaced, without punctuation around it or prepositions at
        its end."""
        rest = blanked(self.text, chain.from_iterable(places))
        text = re.sub(r"(?<=\s)['’]s?(?=\s)", " ", rest[start:])
        text = re.sub(r"\s+([,.;:?!])", r"\1", " ".join(text.split())).strip(" ,.;:?!–—-")
        return re.sub(r"(?: (?:of|for|in|at|by|from|please|and|the|then|too))+$", "", text, flags=re.I).strip()

    def _spans(self, *kinds: SpanKind) -> Sequence[Span]:
        return [span for span in self.query.spans if span.kind in kinds]

    def _places(self, *kinds: SpanKind) -> tuple[Place, ...]:
        return tuple((span.start, span.end) for span in self._spans(*kinds))

    def _with_preposition(self, place: Place) -> Place:
        before = re.search(
            r"\b(?:(?:in|for|of|during|at|as of|on|over|since|through|until|from|to)\s+)$", self.text[: place[0]], re.I
        )
        return (before.start(), place[1]) if before is not None else place

    def _without_article(self, place: Place) -> Place:
        article = re.match(r"(?:the|its|their)\s+", self.text[place[0] : place[1]], re.I)
        return (place[0] + article.end(), place[1]) if article is not None else place


def possessive(name: str) -> str:
    return name if name.endswith(("'s", "’s")) else f"{name}'s"


def _overlap(one: Place, other: Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _joined(text: str, places: Iterable[Place]) -> tuple[Place, ...]:
    """``places``, with those joined that overlap or have only spaces and commas between them."""
    result: list[Place] = []
    for start, end in sorted(places):
        if result and (start < result[-1][1] or not text[result[-1][1] : start].strip(" ,")):
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return tuple(result)

"""Makes a follow-up question complete in itself, from the question before it.

What a follow-up names replaces its counterpart in the earlier question, or what it lacks is added to it. A follow-up
that may mean two things is left as it is, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from finray.core.period import Period
from finray.core.query import Query
from finray.core.roles import Resolution
from finray.question.follow_up_parts import Parts, Place, possessive
from finray.question.relative_periods import counted_from, in_words
from finray.question.synonyms import qualifiers, words_of

Edit = tuple[int, int, str]

_COMPARES = frozenset({"difference"})
_MOVES = frozenset({"growth", "cagr", "difference"})
_SCALES = frozenset({"percent", "share"})
_OPEN_ENDED = re.compile(
    r"\b(?:since|from|until|through|to|till|by)\s*$|^\s*(?:since|from|until|through|to|till|by)\b", re.I
)
_AS_SHARE = re.compile(
    r"\b(?:as an? )?(?:%|per ?cent(?:age)?|share|proportion|fraction) of\b|\b(?:relative|compared) to\b|"
    r"\b(?:per|over)\b",
    re.I,
)
_BEFORE = re.compile(
    r"\b(in|within|across|for|from|on|at|by|excluding|including|before|after|without|outside|net of) "
    r"(?:(?:the|its) )?$",
    re.I,
)
_CAUSE = re.compile(
    r", and (?:why|how come|what (?:\w+ ){0,4}?(?:dr[io]ve\w*|caused?|reasons?|explains?|led|behind))\b[^?]*", re.I
)


class _Unclear(Exception):
    pass


def follow(query: Query, before: Query) -> Resolution:
    """The question of ``query`` with what it lacks taken from ``before``, the question before it.

    Both must be read with their own text (``query.text == query.question``). A question that names company, subject and
    period is unchanged, and so is one that begins anew with another company and subject.
    """
    asked, earlier = Parts(query), Parts(before)
    try:
        return Resolution(_followed(asked, earlier))
    except _Unclear as problem:
        return Resolution(query.question, str(problem))


def _followed(asked: Parts, earlier: Parts) -> str:
    has_company = bool(asked.names) or asked.any_company
    if not (asked.names or asked.has_subject or asked.has_period or asked.operators or asked.units or asked.cause):
        raise _Unclear("what is asked")
    if has_company and asked.has_subject:
        resumes = bool(asked.companies & earlier.companies) or _same_metric(asked, earlier) or asked.refers
        complete = asked.has_period and not (asked.relative and resumes and not asked.any_company)
        if complete or not resumes or asked.any_company:
            return asked.text
    _check_period(asked)
    refers = asked.possessive is not None or asked.pronoun is not None or earlier.any_company
    if refers and not earlier.names and not has_company and asked.has_subject:
        raise _Unclear("which company is meant")
    if asked.has_subject:
        return _sentence(asked, earlier) if asked.is_sentence else _fragment(asked, earlier)
    if asked.cause:
        return _cause(asked, earlier)
    if asked.operators:
        return _operation(asked, earlier)
    if asked.is_sentence and asked.pronoun is not None and earlier.operators & _MOVES:
        raise _Unclear("whether the figure is meant or its change")
    return _edited(earlier, [*_companies(asked, earlier), *_periods(asked, earlier), *_units(asked, earlier)])


def _same_metric(asked: Parts, earlier: Parts) -> bool:
    return bool(asked.query.metrics) and bool(set(asked.query.metrics) & set(earlier.query.metrics))


def _check_period(asked: Parts) -> None:
    for each in asked.relative:
        if each.kind == "open":
            raise _Unclear(f"which fiscal period “{asked.text[each.start : each.end].strip()}” means")
    for start, end in asked.content:
        word = asked.text[start:end]
        if re.fullmatch(r"['’]?\d[\d.,]*", word):
            raise _Unclear(f"what “{word}” means; write a fiscal year with four digits")


# The earlier question with other parts.


def _companies(asked: Parts, earlier: Parts) -> list[Edit]:
    """Put the follow-up's company in the place of the earlier one."""
    if not asked.names:
        return []
    if len(earlier.companies) > 1:
        raise _Unclear(f"whether {asked.name} takes the place of all companies of the earlier question")
    if not earlier.names:
        end = _end(earlier)
        return [(end, end, f" for {asked.name}")]
    return [(start, end, asked.name) for start, end in earlier.names]


def _periods(asked: Parts, earlier: Parts) -> list[Edit]:
    """Put the follow-up's periods in the place of the earlier ones."""
    if asked.relative:
        return _counted(asked, earlier)
    if not asked.period_places:
        return []
    if len(asked.period_places) > 1 or asked.when is None:
        raise _Unclear("which of its periods is meant")
    single = len({period for _, _, period in asked.absolute}) == 1 and asked.span_of_years is None
    if single and _OPEN_ENDED.search(asked.when) and not asked.operators & _COMPARES:
        raise _Unclear(f"whether “{asked.when}” is the period itself or the beginning or end of one")
    if not earlier.period_places:
        end = _end(earlier)
        return [(end, end, f" {asked.when}")]
    if earlier.query.source:
        raise _Unclear("whether another report is meant or another period in the same report")
    if single and earlier.span_of_years is None and len({period for _, _, period in earlier.absolute}) == 1:
        start, end, new = asked.absolute[0]
        if _alike(new, earlier.absolute[0][2]):
            return [(first, last, asked.text[start:end]) for first, last, _ in earlier.absolute]
    if len(earlier.period_places) > 1:
        raise _Unclear("which of the earlier question's periods it replaces")
    spans = earlier.query.intents & {"average", "total", "which", "cagr"}
    if single and spans and len({period for _, _, period in earlier.absolute}) != 1:
        raise _Unclear("over which periods to compute")
    start, end = earlier.period_places[0]
    space = " " if earlier.text[start:end][:1] == " " else ""
    return [(start, end, f"{space}{asked.when}")]


def _alike(new: Period, old: Period) -> bool:
    """Whether one may stand in the other's place: "in" a year, "as of" a day."""
    dated = new.date is None and old.date is None and new.months is None and old.months is None
    return dated and (new.part in (None, "FY")) == (old.part in (None, "FY"))


def _counted(asked: Parts, earlier: Parts) -> list[Edit]:
    """Move each of the earlier periods as the follow-up says."""
    if all(each.kind == "same" for each in asked.relative):
        return []
    if any(each.kind == "latest" for each in asked.relative):
        if len(earlier.period_places) > 1:
            raise _Unclear("which of the earlier question's periods it replaces")
        place = earlier.period_places[0] if earlier.period_places else (_end(earlier), _end(earlier))
        return [(*place, f"{'' if earlier.period_places else ' '}in the latest fiscal year")]
    if not earlier.absolute or earlier.span_of_years is not None:
        raise _Unclear("from which fiscal period to count: the earlier question names none")
    if any(each.kind == "part" for each in asked.relative) and len(earlier.absolute) > 1:
        raise _Unclear("of which year")
    edits: dict[Place, list[Period]] = {}
    for start, end, period in earlier.absolute:
        moved = counted_from(asked.relative, period)
        if moved is None or _year_only(period, asked):
            raise _Unclear(f"which period it means, counted from {in_words(period)}")
        edits.setdefault((start, end), []).append(moved)
    if any(each.kind == "part" for each in asked.relative) and earlier.absolute[0][2].date is not None:
        raise _Unclear("of which fiscal year; the earlier question names a day")
    return [(*place, _range(periods)) for place, periods in edits.items()]


def _year_only(period: Period, asked: Parts) -> bool:
    """Whether a quarter of a period that has none is asked for."""
    return period.months is not None and any(each.kind in ("part", "quarters") for each in asked.relative)


def _range(periods: Sequence[Period]) -> str:
    return in_words(periods[0]) if len(periods) == 1 else f"{in_words(periods[0])} to {in_words(periods[-1])}"


def _units(asked: Parts, earlier: Parts) -> list[Edit]:
    if not asked.units:
        return []
    wanted = " ".join(asked.text[start:end] for start, end in asked.units)
    if len(earlier.units) == 1:
        return [(*earlier.units[0], wanted)]
    end = _end(earlier)
    return [(end, end, f", {wanted}")]


# The follow-up in its own words, with what it lacks.


def _sentence(asked: Parts, earlier: Parts) -> str:
    edits: list[Edit] = [(0, asked.lead, "")]
    added = ""
    if not asked.names and not asked.any_company and earlier.names:
        if len(earlier.companies) > 1:
            raise _Unclear("which company is meant")
        word = asked.possessive or asked.pronoun
        if word is None:
            added = f" for {earlier.name}"
        else:
            new = possessive(earlier.name) if word is asked.possessive else earlier.name
            edits.append((*word.span(), new))
    if asked.relative:
        place = asked.period_places[0]
        edits.append((*place, f" {_now(asked, earlier)}"))
    elif not asked.has_period and earlier.period_places:
        added += f" {_when(asked, earlier)}"
    text = _edited(asked, edits)
    return _added(text, added)


def _fragment(asked: Parts, earlier: Parts) -> str:
    places = [*_companies(asked, earlier), *_periods(asked, earlier), *_units(asked, earlier)]
    if (cause := _CAUSE.search(earlier.text)) is not None:
        places.append((*cause.span(), ""))
    wanted = _noun(asked)
    if _AS_SHARE.match(wanted):
        if earlier.subject is None:
            raise _Unclear("which figure to divide")
        return _edited(earlier, [*places, (earlier.subject[1], earlier.subject[1], f" {wanted}")])
    if asked.narrows is not None or (asked.names_segment and not asked.metrics):
        return _narrowed(asked, earlier, wanted, places)
    if earlier.subject is None:
        raise _Unclear(f"what “{wanted}” replaces in the earlier question")
    if not asked.metrics and set(words_of(wanted)) <= _qualifying():
        raise _Unclear(f"of which figure “{wanted}” is meant")
    if _looks_like_name(asked, wanted):
        raise _Unclear(f"whether “{wanted}” is a company that the index lacks or a part of the same company")
    return _edited(earlier, [*places, (*earlier.subject, wanted)])


@cache
def _qualifying() -> frozenset[str]:
    """Words that tell rows of one name apart: net and gross, basic and diluted."""
    return frozenset(word for line in qualifiers() for side in line for word in side)


def _looks_like_name(asked: Parts, wanted: str) -> bool:
    """Whether it is one capitalized name that no metric explains."""
    words = wanted.split()
    return not asked.metrics and bool(words) and all(word[0].isupper() and not word.isupper() for word in words)


def _narrowed(asked: Parts, earlier: Parts, wanted: str, places: Iterable[Edit]) -> str:
    """Add the narrower part, in the place of an earlier one with the same preposition."""
    if asked.narrows is None:
        wanted = f"for {wanted}" if re.match(r"(?:the|its|their)\b", wanted, re.I) else f"for the {wanted}"
    preposition = asked.narrows["preposition"] if asked.narrows is not None else "for"
    old = [
        (match.start(), end)
        for start, end in earlier.runs
        if (match := _BEFORE.search(earlier.text[:start])) is not None and match[1].lower() == preposition.lower()
    ]
    end = _end(earlier)
    place = old[-1] if old else (end, end)
    return _edited(earlier, [*places, (*place, wanted if old else f" {wanted}")])


def _noun(asked: Parts) -> str:
    """What a fragment names, without company, period and reference."""
    references = [asked.possessive.span()] if asked.possessive is not None else []
    wanted = asked.without(asked.names, asked.period_places, asked.units, references, start=asked.lead)
    return re.sub(r"^(?:the|and|only|just) ", "", wanted, flags=re.I)


# What the earlier question was about, with another operation.


def _operation(asked: Parts, earlier: Parts) -> str:
    compares = bool(asked.operators & _COMPARES)
    if asked.operators <= _SCALES and asked.pronoun is None:
        end = _end(earlier)
        places = [*_companies(asked, earlier), *_periods(asked, earlier)]
        return _edited(earlier, [*places, (end, end, f", {_noun(asked)}")])
    if compares and asked.pronoun is None:
        if asked.is_sentence or not (asked.names or asked.has_period):
            raise _Unclear("what to compare")
        return _compared(asked, earlier)
    if "superlative" in asked.operators and not asked.any_period:
        raise _Unclear("over which companies or periods")
    topic = earlier.topic
    if topic is None or len(earlier.companies) > 1:
        raise _Unclear("which figure of the earlier question is meant")
    if asked.names and not compares:
        new = possessive(asked.name)
        topic = topic.replace(possessive(earlier.name), new) if earlier.names else f"{new} {topic}"
    of = "in" if asked.operators & _MOVES else "of"
    edits: list[Edit] = [(0, asked.lead, "")]
    added = ""
    if compares and asked.has_period and earlier.period_places:
        topic = f"{topic} {_when(asked, earlier)}"
    elif not asked.has_period and earlier.period_places:
        added = f" {_when(asked, earlier)}"
    if asked.relative:
        edits.append((*asked.period_places[0], f" {_now(asked, earlier)}"))
    if asked.names and not compares:
        edits += [(start, end, "") for start, end in asked.names]
    if asked.pronoun is not None:
        return _added(_edited(asked, [*edits, (*asked.pronoun.span(), topic)]), added)
    if asked.is_sentence:
        return _added(_edited(asked, edits), f" {of} {topic}{added}")
    if not added and asked.period_places and not asked.relative:
        added = f" {asked.when}"
    elif asked.relative:
        added = f" {_now(asked, earlier)}"
    return f"What was the {_noun(asked)} {of} {topic}{added}?"


def _compared(asked: Parts, earlier: Parts) -> str:
    """The earlier question, compared with the follow-up's company or period."""
    edits = [(*asked.period_places[0], f" {_now(asked, earlier)}")] if asked.relative else []
    words = _edited(asked, [(0, asked.lead, ""), *edits]).rstrip(" ?.!")
    end = _end(earlier)
    return _edited(earlier, [(end, end, f" {words[:1].lower()}{words[1:]}")])


def _cause(asked: Parts, earlier: Parts) -> str:
    """Ask for the cause of what the earlier question asks about, in the words of both."""
    cause = asked.without(asked.names, asked.period_places, start=asked.lead) or "why"
    end, old = _end(earlier), _CAUSE.search(earlier.text)
    clause = f", and {cause[:1].lower()}{cause[1:]}"
    places = [*_companies(asked, earlier), *_periods(asked, earlier)]
    if Parts(earlier.query).cause and old is None:
        return _edited(earlier, places)
    return _edited(earlier, [*places, (end, old.end() if old else end, clause)])


# Words.


def _when(asked: Parts, earlier: Parts) -> str:
    """The earlier question's period. Raises _Unclear if it has several and the follow-up is about one."""
    several = len({period for _, _, period in earlier.absolute}) > 1 or earlier.span_of_years is not None
    if earlier.when is None or (several and not asked.operators & _MOVES):
        raise _Unclear("which of the earlier question's periods is meant")
    return earlier.when


def _now(asked: Parts, earlier: Parts) -> str:
    """The follow-up's relative period in words, counted from the latest of the earlier question's."""
    if any(each.kind == "latest" for each in asked.relative):
        return "in the latest fiscal year"
    if all(each.kind == "same" for each in asked.relative):
        return _when(asked, earlier)
    latest = earlier.query.latest
    moved = None if latest is None else counted_from(asked.relative, latest)
    if moved is None or latest is None or _year_only(latest, asked):
        raise _Unclear("from which fiscal period to count")
    start = asked.period_places[0][0]
    compared = asked.operators & _COMPARES
    return in_words(moved) if compared else f"{_preposition(asked.text[start:])}{in_words(moved)}"


def _preposition(text: str) -> str:
    match = re.match(r"\s*(in|for|at|as of|during)\b", text, re.I)
    return f"{match[1]} " if match is not None else "in "


def _end(parts: Parts) -> int:
    """Where the last sentence ends, before its punctuation and a cause that a follow-up asked for."""
    if (cause := _CAUSE.search(parts.text)) is not None:
        return cause.start()
    return len(parts.text.rstrip(" ?.!"))


def _edited(parts: Parts, edits: Iterable[Edit]) -> str:
    """The text with each place replaced; edits at one place follow each other."""
    ordered = sorted(enumerate(edits), key=lambda each: (each[1][0], each[0]))
    text, at = [], 0
    for _, (start, end, new) in ordered:
        if start < at:
            raise _Unclear("what it replaces in the earlier question")
        text += [parts.text[at:start], new]
        at = end
    text.append(parts.text[at:])
    joined = " ".join("".join(text).split())
    joined = re.sub(r"\s+([,.;:?!])", r"\1", joined)
    return joined[:1].upper() + joined[1:]


def _added(text: str, added: str) -> str:
    return f"{text.rstrip(' ?.!')}{added}?" if added else text

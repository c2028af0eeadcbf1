"""Completes a follow-up question from the question before it.

What a follow-up names replaces its counterpart in the earlier question, or what it lacks is added to it. A follow-up
that may mean two things is left as it is, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from finray.core.query import Query
from finray.core.roles import Resolution
from finray.question.follow_ups.edits import (
    CAUSE,
    COMPARES,
    MOVES,
    Edit,
    Unclear,
    added_to,
    edited,
    end_of,
    new_companies,
    new_periods,
    new_units,
    now,
    when,
)
from finray.question.follow_ups.parts import Parts, possessive
from finray.question.synonyms import qualifiers, words_of

_SCALES = frozenset({"percent", "share"})
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


def follow(query: Query, before: Query) -> Resolution:
    """The question of ``query`` with what it lacks taken from ``before``, the question before it.

    Both must be read with their own text (``query.text == query.question``). A question that names company, subject and
    period is unchanged, and so is one that begins anew with another company and subject.
    """
    asked, earlier = Parts(query), Parts(before)
    try:
        return Resolution(_followed(asked, earlier))
    except Unclear as problem:
        return Resolution(query.question, str(problem))


def _followed(asked: Parts, earlier: Parts) -> str:
    has_company = bool(asked.names) or asked.any_company
    if not (asked.names or asked.has_subject or asked.has_period or asked.operators or asked.units or asked.cause):
        raise Unclear("what is asked")
    if has_company and asked.has_subject:
        resumes = bool(asked.companies & earlier.companies) or _same_metric(asked, earlier) or asked.refers
        complete = asked.has_period and not (asked.relative and resumes and not asked.any_company)
        if complete or not resumes or asked.any_company:
            return asked.text
    _check_period(asked)
    refers = asked.possessive is not None or asked.pronoun is not None or earlier.any_company
    if refers and not earlier.names and not has_company and asked.has_subject:
        raise Unclear("which company is meant")
    if asked.has_subject:
        return _sentence(asked, earlier) if asked.is_sentence else _fragment(asked, earlier)
    if asked.cause:
        return _cause(asked, earlier)
    if asked.operators:
        return _operation(asked, earlier)
    if asked.is_sentence and asked.pronoun is not None and earlier.operators & MOVES:
        raise Unclear("whether the figure is meant or its change")
    return edited(earlier, [*new_companies(asked, earlier), *new_periods(asked, earlier), *new_units(asked, earlier)])


def _same_metric(asked: Parts, earlier: Parts) -> bool:
    return bool(asked.query.metrics) and bool(set(asked.query.metrics) & set(earlier.query.metrics))


def _check_period(asked: Parts) -> None:
    """Raise Unclear for a period that depends on today, or a number that may be a year."""
    for each in asked.relative:
        if each.kind == "open":
            raise Unclear(f"which fiscal period “{asked.text[each.start : each.end].strip()}” means")
    for start, end in asked.content:
        word = asked.text[start:end]
        if re.fullmatch(r"['’]?\d[\d.,]*", word):
            raise Unclear(f"what “{word}” means; write a fiscal year with four digits")


def _sentence(asked: Parts, earlier: Parts) -> str:
    """The follow-up, a sentence with a subject, with the company and the period that it lacks."""
    edits: list[Edit] = [(0, asked.lead, "")]
    added = ""
    if not asked.names and not asked.any_company and earlier.names:
        if len(earlier.companies) > 1:
            raise Unclear("which company is meant")
        word = asked.possessive or asked.pronoun
        if word is None:
            added = f" for {earlier.name}"
        else:
            new = possessive(earlier.name) if word is asked.possessive else earlier.name
            edits.append((*word.span(), new))
    if asked.relative:
        edits.append((*asked.period_places[0], f" {now(asked, earlier)}"))
    elif not asked.has_period and earlier.period_places:
        added += f" {when(asked, earlier)}"
    return added_to(edited(asked, edits), added)


def _fragment(asked: Parts, earlier: Parts) -> str:
    """The earlier question with what the follow-up, a few words without a verb, names."""
    places = [*new_companies(asked, earlier), *new_periods(asked, earlier), *new_units(asked, earlier)]
    if (cause := CAUSE.search(earlier.text)) is not None:
        places.append((*cause.span(), ""))
    wanted = _noun(asked)
    if _AS_SHARE.match(wanted):
        if earlier.subject is None:
            raise Unclear("which figure to divide")
        return edited(earlier, [*places, (earlier.subject[1], earlier.subject[1], f" {wanted}")])
    if asked.narrows is not None or (asked.names_segment and not asked.metrics):
        return _narrowed(asked, earlier, wanted, places)
    if earlier.subject is None:
        raise Unclear(f"what “{wanted}” replaces in the earlier question")
    if not asked.metrics and set(words_of(wanted)) <= _qualifying():
        raise Unclear(f"of which figure “{wanted}” is meant")
    if _looks_like_name(asked, wanted):
        raise Unclear(f"whether “{wanted}” is a company that the index lacks or a part of the same company")
    return edited(earlier, [*places, (*earlier.subject, wanted)])


@cache
def _qualifying() -> frozenset[str]:
    """Words that tell rows of one name apart: net and gross, basic and diluted."""
    return frozenset(word for line in qualifiers() for side in line for word in side)


def _looks_like_name(asked: Parts, wanted: str) -> bool:
    """Whether ``wanted`` is capitalized words that no metric explains."""
    words = wanted.split()
    return not asked.metrics and bool(words) and all(word[0].isupper() and not word.isupper() for word in words)


def _narrowed(asked: Parts, earlier: Parts, wanted: str, places: Iterable[Edit]) -> str:
    """The earlier question with the narrower part that is ``wanted``, in the place of one with the same preposition."""
    if asked.narrows is not None:
        preposition = asked.narrows["preposition"]
    else:
        preposition = "for"
        wanted = f"for {wanted}" if re.match(r"(?:the|its|their)\b", wanted, re.I) else f"for the {wanted}"
    old = [
        (match.start(), end)
        for start, end in earlier.runs
        if (match := _BEFORE.search(earlier.text[:start])) is not None and match[1].lower() == preposition.lower()
    ]
    end = end_of(earlier)
    edit = (*old[-1], wanted) if old else (end, end, f" {wanted}")
    return edited(earlier, [*places, edit])


def _noun(asked: Parts) -> str:
    """What a fragment names, without company, period and reference."""
    references = [asked.possessive.span()] if asked.possessive is not None else []
    wanted = asked.without(asked.names, asked.period_places, asked.units, references, start=asked.lead)
    return re.sub(r"^(?:the|and|only|just) ", "", wanted, flags=re.I)


def _operation(asked: Parts, earlier: Parts) -> str:
    """What the earlier question was about, with the operation of the follow-up: "by how much did it grow?"."""
    compares = bool(asked.operators & COMPARES)
    if asked.operators <= _SCALES and asked.pronoun is None:
        end = end_of(earlier)
        places = [*new_companies(asked, earlier), *new_periods(asked, earlier)]
        return edited(earlier, [*places, (end, end, f", {_noun(asked)}")])
    if compares and asked.pronoun is None:
        if asked.is_sentence or not (asked.names or asked.has_period):
            raise Unclear("what to compare")
        return _compared(asked, earlier)
    if "superlative" in asked.operators and not asked.any_period:
        raise Unclear("over which companies or periods")
    topic = earlier.topic
    if topic is None or len(earlier.companies) > 1:
        raise Unclear("which figure of the earlier question is meant")
    if asked.names and not compares:
        new = possessive(asked.name)
        topic = topic.replace(possessive(earlier.name), new) if earlier.names else f"{new} {topic}"
    of = "in" if asked.operators & MOVES else "of"
    edits: list[Edit] = [(0, asked.lead, "")]
    added = ""
    if compares and asked.has_period and earlier.period_places:
        topic = f"{topic} {when(asked, earlier)}"
    elif not asked.has_period and earlier.period_places:
        added = f" {when(asked, earlier)}"
    if asked.relative:
        edits.append((*asked.period_places[0], f" {now(asked, earlier)}"))
    if asked.names and not compares:
        edits += [(start, end, "") for start, end in asked.names]
    if asked.pronoun is not None:
        return added_to(edited(asked, [*edits, (*asked.pronoun.span(), topic)]), added)
    if asked.is_sentence:
        return added_to(edited(asked, edits), f" {of} {topic}{added}")
    if not added and asked.period_places and not asked.relative:
        added = f" {asked.when}"
    elif asked.relative:
        added = f" {now(asked, earlier)}"
    return f"What was the {_noun(asked)} {of} {topic}{added}?"


def _compared(asked: Parts, earlier: Parts) -> str:
    """The earlier question, compared with the follow-up's company or period."""
    edits = [(*asked.period_places[0], f" {now(asked, earlier)}")] if asked.relative else []
    words = edited(asked, [(0, asked.lead, ""), *edits]).rstrip(" ?.!")
    end = end_of(earlier)
    return edited(earlier, [(end, end, f" {words[:1].lower()}{words[1:]}")])


def _cause(asked: Parts, earlier: Parts) -> str:
    """The earlier question, with the follow-up's question for a cause."""
    cause = asked.without(asked.names, asked.period_places, start=asked.lead) or "why"
    end, old = end_of(earlier), CAUSE.search(earlier.text)
    clause = f", and {cause[:1].lower()}{cause[1:]}"
    places = [*new_companies(asked, earlier), *new_periods(asked, earlier)]
    if earlier.cause and old is None:
        return edited(earlier, places)
    return edited(earlier, [*places, (end, old.end() if old else end, clause)])

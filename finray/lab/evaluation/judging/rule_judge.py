"""A judge without a model: numbers, years, direction and words of the gold answer, looked for in the answer.

It knows nothing of meaning. It says "incorrect" where it cannot see that an answer says the same, so it is strict with
answers that say it in other words, and it can be fooled by one that has all the words and denies them. Its figure
stands beside an LLM judge's, never in its place; docs/evaluation.md shows how often the two agree with labels.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from decimal import Decimal

from finray.lab.evaluation.judging.judgement import Judgement, Submission, Verdict
from finray.lab.evaluation.judging.wording import names_another, polarity, refuses, signs_of, subject_replaced, terms
from finray.lab.evaluation.mentions import figures, is_year, years
from finray.lab.evaluation.numbers import Number, equal_at_digits, squeezed

NAME = "rule judge"
_HASH = "rules-2"
"""Grows with every change of a verdict."""
_MOST_CHARACTERS = 50_000
_ROUNDING = Decimal("0.05")
"""Two numbers that differ by more are not roundings of each other, however few digits one has."""
_ENOUGH_WORDS = 0.6
_ENOUGH_WORDS_BESIDE = 0.3
"""Of the gold answer's own words, where its figures or its yes or no are met as well."""
_FEW_WORDS = 6
"""A gold answer with no more words of its own is about its figures, where it has several."""
_NEGATION_WORDS = 25
"""A "not" decides in short texts only."""


class RuleJudge:
    name = NAME
    hash = _HASH

    async def judge(self, submission: Submission) -> Judgement:
        verdict, reason = judge_by_rules(submission.question, submission.reference, submission.answer)
        return Judgement(submission.qid, submission.key, verdict, reason, NAME, _HASH)


def judge_by_rules(question: str, reference: str, answer: str) -> tuple[Verdict, str]:
    """(verdict, what decided). Contradictions come first: yes against no, rise against fall, another year or company;
    then the gold answer's figures must be met, and then enough of the words that the question does not have."""
    question, reference, answer = (squeezed(text[:_MOST_CHARACTERS]) for text in (question, reference, answer))
    if refuses(answer) and not refuses(reference):
        return "refused", "it says that it has no answer"
    against = _contradiction(question, reference, answer)
    if against:
        return "incorrect", against
    wanted = _own_figures(reference, question)
    given = [*figures(answer), *figures(question)]
    missed = [number for number in wanted if not _met(number, given)]
    if missed:
        known = [*wanted, *figures(question), *figures(reference)]
        strange = [number for number in figures(answer) if not is_year(number) and not _met(number, known)]
        if strange or 2 * len(missed) > len(wanted):
            return "incorrect", f"it lacks the figure {missed[0].face:f}"
    own_years = years(reference) - years(question)
    if own_years and not wanted and not own_years & years(answer):
        return "incorrect", f"it lacks the year {min(own_years)}"
    agrees = _agrees(reference, answer)
    if polarity(reference) is not None and not agrees:
        return "incorrect", "it says neither yes nor no"
    own = _own_words(question, reference)
    if len(wanted) > 1 and not missed and len(own) <= _FEW_WORDS:
        return "correct", "it has the gold answer's figures"
    enough = _ENOUGH_WORDS_BESIDE if wanted or agrees else _ENOUGH_WORDS
    share = len(own & set(terms(answer))) / len(own) if own else 1.0
    if share < enough:
        return "incorrect", f"it has {share:.0%} of the gold answer's own words"
    return "correct", "it has the gold answer's figures and words"


def _agrees(reference: str, answer: str) -> bool:
    """Whether both say yes, both no, or both up or down."""
    if polarity(reference) is not None and polarity(reference) == polarity(answer):
        return True
    return any(one and one == other for one, other in zip(signs_of(reference), signs_of(answer), strict=True))


def _contradiction(question: str, reference: str, answer: str) -> str | None:
    if polarity(reference) is not None and polarity(answer) == -(polarity(reference) or 0):
        return "yes against no"
    for first, second in zip(signs_of(reference), signs_of(answer), strict=True):
        if first and second and first == -second:
            return "the opposite direction"
    if polarity(reference) is None and _denies(reference) != _denies(answer) and _short(reference, answer):
        return "one denies what the other says"
    at_issue = years(question) | years(reference)
    if at_issue and years(answer) and not years(answer) & at_issue:
        return f"it speaks of {min(years(answer))}"
    other = names_another(answer, f"{question} {reference}") or subject_replaced(question, reference, answer)
    return f"it speaks of {other}" if other else None


def _own_figures(reference: str, question: str) -> list[Number]:
    """What the gold answer states and the question does not; all of it where that is nothing."""
    stated = [number for number in figures(reference) if not is_year(number)]
    asked = figures(question)
    return [number for number in stated if not _met(number, asked)] or stated


def _met(wanted: Number, given: Collection[Number]) -> bool:
    """Whether one of ``given`` is ``wanted``, rounded to the coarser of the two; signs are for the words to say."""
    unsigned = Number(abs(wanted.face), wanted.places, wanted.factor)
    for number in given:
        other = Number(abs(number.face), number.places, number.factor)
        if _is_count(unsigned) and other.factor != unsigned.factor:
            continue
        if equal_at_digits(unsigned, other) or (_near(unsigned, other) and equal_at_digits(other, unsigned)):
            return True
    return False


def _is_count(number: Number) -> bool:
    """A small whole number, which a long text has in some sense or other."""
    return number.places == 0 and number.face < 10


def _near(first: Number, second: Number) -> bool:
    """Within rounding of each other, at the scale that is written or with the same digits."""
    pairs = ((first.value, second.value), (first.face, second.face))
    return any(abs(one - other) <= _ROUNDING * max(abs(one), abs(other)) for one, other in pairs)


def _own_words(question: str, reference: str) -> set[str]:
    """The gold answer's words that the question does not have; all of them where that is nothing and no yes or no."""
    wanted = set(terms(reference))
    return wanted - set(terms(question)) or (wanted if polarity(reference) is None else set())


_DENIAL = re.compile(r"\b(?:no|not|none|never|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)


def _denies(text: str) -> bool:
    return _DENIAL.search(text) is not None


def _short(*texts: str) -> bool:
    return all(len(text.split()) <= _NEGATION_WORDS for text in texts)

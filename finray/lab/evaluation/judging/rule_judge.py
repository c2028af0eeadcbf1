"""A judge without a model, which compares numbers, years, direction and words of answer and gold answer.

It does not understand meaning. In doubt an answer is "incorrect", so paraphrases are often rejected, and an answer that
repeats the words but denies them may pass. Its figure is reported beside an LLM judge's, not instead of it;
docs/evaluation.md shows how often both agree with labels.
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
"""Increment with every change of verdicts."""
_MAX_CHARACTERS = 50_000
_ROUNDING = Decimal("0.05")
"""Two numbers with a larger relative difference are not roundings of each other."""
_ENOUGH_WORDS = 0.6
_ENOUGH_WORDS_BESIDE = 0.3
"""Required share of the gold answer's own words if its figures, or its yes or no, match too."""
_FEW_WORDS = 6
"""A gold answer with several figures and no more own words than this is decided by its figures."""
_NEGATION_WORDS = 25
"""A "not" counts only in texts with at most this many words."""


class RuleJudge:
    name = NAME
    hash = _HASH

    async def judge(self, submission: Submission) -> Judgement:
        verdict, reason = judge_by_rules(submission.question, submission.reference, submission.answer)
        return Judgement(submission.qid, submission.key, verdict, reason, NAME, _HASH)


def judge_by_rules(question: str, reference: str, answer: str) -> tuple[Verdict, str]:
    """(verdict, reason). Contradictions come first: yes and no, rise and fall, another year or company. Then the answer
    must have the gold answer's figures, and enough of its words that are not in the question."""
    question, reference, answer = (squeezed(text[:_MAX_CHARACTERS]) for text in (question, reference, answer))
    if refuses(answer) and not refuses(reference):
        return "refused", "it says that it has no answer"
    against = _contradiction(question, reference, answer)
    if against:
        return "incorrect", against
    wanted = _own_figures(reference, question)
    given = [*figures(answer), *figures(question)]
    missed = [number for number in wanted if not _is_among(number, given)]
    if missed:
        known = [*wanted, *figures(question), *figures(reference)]
        foreign = [number for number in figures(answer) if not is_year(number) and not _is_among(number, known)]
        if foreign or 2 * len(missed) > len(wanted):
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
    """Whether both are yes, both no, or both the same direction."""
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
    """The gold answer's figures that are not in the question; all of them if there are none."""
    stated = [number for number in figures(reference) if not is_year(number)]
    asked = figures(question)
    return [number for number in stated if not _is_among(number, asked)] or stated


def _is_among(wanted: Number, given: Collection[Number]) -> bool:
    """Whether one of ``given`` equals ``wanted``, rounded to the coarser of the two. Signs are ignored."""
    unsigned = abs(wanted)
    for other in map(abs, given):
        if _is_count(unsigned) and other.factor != unsigned.factor:
            continue
        if equal_at_digits(unsigned, other) or (_near(unsigned, other) and equal_at_digits(other, unsigned)):
            return True
    return False


def _is_count(number: Number) -> bool:
    """Whether ``number`` is a small whole number, which most long texts contain."""
    return number.places == 0 and number.face < 10


def _near(first: Number, second: Number) -> bool:
    """Whether the values or the printed digits are within rounding of each other."""
    pairs = ((first.value, second.value), (first.face, second.face))
    return any(abs(one - other) <= _ROUNDING * max(abs(one), abs(other)) for one, other in pairs)


def _own_words(question: str, reference: str) -> set[str]:
    """The gold answer's words that are not in the question; if there are none, all of them, except for a yes or no."""
    wanted = set(terms(reference))
    return wanted - set(terms(question)) or (wanted if polarity(reference) is None else set())


_DENIAL = re.compile(r"\b(?:no|not|none|never|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)


def _denies(text: str) -> bool:
    return _DENIAL.search(text) is not None


def _short(*texts: str) -> bool:
    return all(len(text.split()) <= _NEGATION_WORDS for text in texts)

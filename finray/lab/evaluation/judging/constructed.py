"""Answers with known labels, derived from gold answers by rule.

A "correct" answer is the gold answer reworded, an "incorrect" one has something changed that the question asks for, a
"refused" one is a refusal. They show what a judge overlooks, not how well it judges answers of people or models.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal

from finray.core.questions import Question
from finray.lab.evaluation import metrics
from finray.lab.evaluation.judging.judgement import Submission, Verdict
from finray.lab.evaluation.judging.labels import LabeledAnswer
from finray.lab.evaluation.mentions import is_year, years
from finray.lab.evaluation.numbers import Found, located_numbers, squeezed
from finray.storage.locations import read_bytes

_SYNONYMS = {
    "increased": "rose", "increase": "rise", "decreased": "fell", "decline": "decrease", "declined": "fell",
    "improved": "got better", "dropped": "fell", "primarily": "mainly", "mainly": "primarily", "driven by": "due to",
    "due to": "because of", "approximately": "about", "amounted to": "came to", "operates": "does business",
    "following": "these", "completed": "closed", "mn": " million", "bn": " billion", "compared to": "against",
}  # fmt: skip
_OPPOSITES = {
    "increased": "decreased", "increase": "decrease", "rose": "fell", "grew": "shrank", "growth": "decline",
    "improved": "declined", "higher": "lower", "positive": "negative", "highest": "lowest", "largest": "smallest",
    "approved": "defeated", "gain": "loss", "yes": "no", "opening": "closing", "strong": "weak", "more": "less",
}  # fmt: skip
_OPPOSITES |= {other: one for one, other in _OPPOSITES.items()} | {"decline": "increase", "dropped": "rose"}
_REFUSALS = (
    "I cannot determine this from the information provided.",
    "Not answerable: the index has no filing that covers this.",
    "The provided passages do not contain enough information to answer the question.",
    "I'm sorry, but the relevant data is not available in the given context.",
    "There is insufficient information to answer this question.",
    "This could not be found in the filings.",
)
_FRAMES = ("According to the filing, {}", "{} This is what the annual report says.", "Based on the evidence: {}")
_LONGER = " The figures are on page {page} of the filing, where management also discusses them in more detail."
_YEAR = re.compile(r"\b(FY ?'?)?((?:19|20)\d\d|(?<=FY)\d\d|(?<=FY )\d\d)\b")


def constructed_labels(
    questions: Sequence[Question], *, companies: Mapping[str, str] | None = None, seed: int = 0
) -> list[LabeledAnswer]:
    """Labeled answers to the ``questions`` whose gold answer is in words, reproducible by ``seed``.

    ``companies`` maps qids to companies; without it, no answer is about another company.
    """
    asked = [question for question in questions if metrics.is_textual(question)]
    labeled: dict[str, LabeledAnswer] = {}
    for question in asked:
        draw = random.Random(f"{seed}:{question.qid}")
        for kind, label, answer in _answers(question, asked, companies or {}, draw):
            reference = question.answer or ""
            submission = Submission(f"{question.qid}:{kind}", question.question, reference, answer)
            labeled.setdefault(submission.key, LabeledAnswer(submission, label, kind))
    return list(labeled.values())


def _answers(
    question: Question, others: Sequence[Question], companies: Mapping[str, str], draw: random.Random
) -> Iterator[tuple[str, Verdict, str]]:
    """(kind, label, answer), without the kinds of changes that do not apply to this gold answer."""
    gold = (question.answer or "").strip()
    page = next((gold.page + 1 for gold in question.evidence if gold.page is not None), None) or draw.randint(2, 120)
    yield "gold answer", "correct", gold
    yield "reworded", "correct", draw.choice(_FRAMES).format(_reworded(gold))
    yield "with more detail", "correct", f"{_reformatted(gold)}{_LONGER.format(page=page)}"
    changes: Sequence[tuple[str, Callable[[], str | None]]] = (
        ("number changed", lambda: _number_changed(gold, draw)),
        ("opposite direction", lambda: _opposite(gold)),
        ("wrong year", lambda: _wrong_year(question.question, gold, draw)),
        ("wrong company", lambda: _wrong_company(question.qid, gold, companies, draw)),
        ("half of it", lambda: _half(gold)),
        ("another question's answer", lambda: _from_another(question, others, draw)),
    )
    for kind, change in changes:
        answer = change()
        if answer is not None and squeezed(answer) != squeezed(gold):
            yield kind, "incorrect", answer
    for refusal in draw.sample(_REFUSALS, 2):
        yield "refusal", "refused", refusal


def _reworded(gold: str) -> str:
    return _swapped(_reformatted(gold), _SYNONYMS)


def _reformatted(gold: str) -> str:
    """The same amounts in another format: $400,000,000 as $400 million, 36.8% as 36.8 percent."""

    def written(found: Found, printed: str) -> str:
        number = found.number
        if number.factor == Decimal("0.01") and printed.endswith("%"):
            return f"{printed[:-1].rstrip()} percent"
        if number.factor == 1 and number.face >= 10**6 and number.places == 0:
            return f"{'$' if '$' in printed else ''}{number.face / 10**6:,f} million"
        return printed

    return _rewritten(gold, written)


def _number_changed(gold: str, draw: random.Random) -> str | None:
    """Every figure changed by 12% to 60%, with its number of decimals kept."""

    def other(found: Found, printed: str) -> str:
        number = found.number
        if is_year(number):
            return printed
        step = Decimal(1).scaleb(-number.places)
        shift = Decimal(draw.choice((-1, 1))) * Decimal(draw.randint(12, 60)) / 100
        face = (abs(number.face) * (1 + shift)).quantize(step)
        if face == abs(number.face):
            face += step
        digits = re.search(r"(?<![\d,])(?:[\d,]*+\.\d+|[\d,]*\d)", printed)
        return printed if digits is None else printed.replace(digits[0], f"{face:,}", 1)

    return _rewritten(gold, other)


def _rewritten(text: str, write: Callable[[Found, str], str]) -> str:
    line = squeezed(text)
    parts, at = [], 0
    for found in located_numbers(line):
        printed = line[found.start : found.end]
        lead = printed[: len(printed) - len(printed.lstrip(" ("))]
        parts += [line[at : found.start], lead, write(found, printed[len(lead) :])]
        at = found.end
    return "".join([*parts, line[at:]])


def _opposite(gold: str) -> str | None:
    """Yes and no, up and down exchanged; if there are none, a "not" added or removed."""
    swapped = _swapped(gold, _OPPOSITES)
    if swapped != gold:
        return swapped
    if re.search(r"\bnot ", gold):
        return re.sub(r"\bnot ", "", gold, count=1)
    denied = re.sub(r"\b(is|are|was|were)\b", r"\1 not", gold, count=1)
    return None if denied == gold else denied


def _wrong_year(question: str, gold: str, draw: random.Random) -> str | None:
    """All years of the answer shifted; if it has none, a wrong year in front."""
    shift = draw.choice((-5, -4, 4))
    if years(gold):
        return _YEAR.sub(lambda match: f"{match[1] or ''}{int(match[2]) + shift:02d}", gold)
    if not years(question):
        return None
    return f"In FY{max(years(question)) + shift}: {gold}"


def _wrong_company(qid: str, gold: str, companies: Mapping[str, str], draw: random.Random) -> str | None:
    own = companies.get(qid)
    others = sorted({name for name in companies.values() if name != own})
    if own is None or not others:
        return None
    other = draw.choice(others)
    named = re.compile(re.escape(own), re.IGNORECASE)
    return named.sub(other, gold) if named.search(gold) else f"For {other}: {gold}"


def _half(gold: str) -> str | None:
    """The beginning of an answer that lists three or more things."""
    lines = [line.strip(" -•\t") for line in re.split(r"\n\s{0,9}+(?=[-•])", gold)]
    if len(lines) >= 3:
        return f"{lines[0]} {lines[1]}"
    items = [item for item in re.split(r",(?! ?\d)\s+(?:and\s+)?", gold) if item.strip()]
    return items[0] if len(items) >= 3 and len(items[0].split()) <= len(gold.split()) / 2 else None


def _from_another(question: Question, others: Sequence[Question], draw: random.Random) -> str | None:
    filings = {gold.doc_name for gold in question.evidence}
    known = [
        other.answer
        for other in others
        if other.answer and other.answer != question.answer and not filings & {gold.doc_name for gold in other.evidence}
    ]
    long = [answer for answer in known if len(answer.split()) >= 4]
    return draw.choice(long) if long else None


def _swapped(text: str, pairs: Mapping[str, str]) -> str:
    """``text`` with all words of ``pairs`` exchanged at once; capitals are kept."""
    pattern = re.compile(rf"(?<![A-Za-z])({'|'.join(sorted(map(re.escape, pairs), key=len, reverse=True))})\b", re.I)

    def exchange(match: re.Match[str]) -> str:
        word = pairs[match[0].lower()]
        return word.capitalize() if match[0][0].isupper() else word

    return pattern.sub(exchange, text)


def companies_of(questions: str) -> Mapping[str, str]:
    """qid -> company, for question files with a field "company", such as FinanceBench's."""
    if not questions.lower().endswith((".jsonl", ".ndjson")):
        return {}
    found: dict[str, str] = {}
    for line in read_bytes(questions).splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # read_questions reports it
            continue
        if isinstance(record, dict) and isinstance(record.get("company"), str):
            found[str(record.get("qid"))] = record["company"]
    return found

"""Finds the first stage that lost the figure of a failed question, from predictions and the index.

The gold operands of a question are the numbers or tagged facts of its gold ``program``, else its gold value. A right
answer is right regardless of its passages; every other question belongs to the first stage of :data:`FIGURE_ERRORS`
that fails.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol, get_args

from finray.core.filing import Filing, LineItem
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation import metrics
from finray.lab.evaluation.evaluate import NO_TYPE, score
from finray.lab.evaluation.mentions import figures
from finray.lab.evaluation.numbers import Number, find_numbers, number_of, same_when_printed

FigureError = Literal[
    "right figure", "right in words", "failed", "refused before search", "wrong filing", "wrong page", "not printed",
    "in a sentence", "in a table, not parsed", "parsed at another scale", "parsed, no plan",
    "parsed, other operation planned", "parsed, row not chosen", "scale, unit or sign", "operation", "other cell",
]  # fmt: skip
FIGURE_ERRORS: tuple[FigureError, ...] = get_args(FigureError)
MEANINGS: Mapping[FigureError, str] = {
    "right figure": "the value is right",
    "right in words": "no value, but the quoted text states the right one",
    "failed": "an error",
    "refused before search": "no passage was retrieved: a company or period was taken for one that the index lacks",
    "wrong filing": "a gold filing is not among those of the ten passages",
    "wrong page": "a gold page is not among the ten passages",
    "not printed": "the figure is not printed on the gold pages (computed without a program, written out, a picture)",
    "in a sentence": "printed in a sentence of the gold pages; no line item has it",
    "in a table, not parsed": "printed in a table of the gold pages; no line item has it",
    "parsed at another scale": "a line item has the digits, at another scale or unit",
    "parsed, no plan": "all line items are there, but the question was not read as one for a figure",
    "parsed, other operation planned": "line items are there; one operand is planned for several, or several for one",
    "parsed, row not chosen": "all line items are there and as many are planned, but none was found sure enough",
    "scale, unit or sign": "the value is the gold one times a power of ten, or with the other sign",
    "operation": "the right cells with other arithmetic, or a cell given although the gold answer is computed",
    "other cell": "another row, column or page was read",
}
Ending = Literal["figure", "words", "refused", "error"]
ENDINGS: tuple[Ending, ...] = get_args(Ending)
"""What was answered: a value, words (a quotation), nothing, or an error."""

_PASSAGES = 10
"""A gold page must be among this many leading passages."""
_PROGRAM_NUMBER = re.compile(r"(?P<operator>[*/])?(?<![\w.])(?P<digits>\d+(?:\.\d+)?)(?![\w.])")
_TAGGED = re.compile(r"(?P<concept>[\w-]{1,40}:\w{1,200})\[(?:[\d-]{10}\.\.)?(?P<end>\d{4}-\d\d-\d\d)[^\]]{0,500}\]")
_SCALES = frozenset(("100", "1000", "10000", "1000000", "1000000000"))
_LARGEST_COUNT = 12
"""A program that divides by a whole number up to this averages this many periods."""
_PLANNED = re.compile(r"^curate: \d+ of (\d+) operands found")
_SENTENCE_WORDS, _WORDS_PER_FIGURE = 5, 2
_LOWER_WORD = re.compile(r"(?<!\S)[a-z]{2,}\b")


class Pages(Protocol):
    """The part of :class:`finray.index.reading.reader.IndexReader` that is read."""

    def filings(self) -> Sequence[Filing]: ...
    def line_items_of_page(self, filing_id: str, page: int) -> tuple[LineItem, ...]: ...
    def page_texts(self, pages: list[tuple[str, int]]) -> dict[tuple[str, int], str]: ...


@dataclass(frozen=True, slots=True)
class FigureCase:
    """One question for a figure. ``parsed`` if every gold operand is a line item of the gold pages."""

    qid: str
    kind: str
    error: FigureError
    ending: Ending
    parsed: bool


def figure_cases(questions: Iterable[Question], predictions: Iterable[Prediction], pages: Pages) -> list[FigureCase]:
    """A case for every predicted question with a numeric gold answer and gold pages."""
    by_qid = {prediction.qid: prediction for prediction in predictions}
    ids = {name: filing.filing_id for filing in pages.filings() for name in (filing.doc_name, filing.filing_id)}
    cases = []
    for question in questions:
        prediction, reference = by_qid.get(question.qid), metrics.numeric_reference(question)
        if prediction is not None and reference is not None and metrics.paged(question.evidence):
            cases.append(_case(question, prediction, reference, _GoldPages(question.evidence, ids, pages)))
    return cases


def by_error(cases: Sequence[FigureCase]) -> dict[FigureError, list[FigureCase]]:
    """The cases of each error that occurs, in the order of FIGURE_ERRORS."""
    found = {error: [case for case in cases if case.error == error] for error in FIGURE_ERRORS}
    return {error: of_error for error, of_error in found.items() if of_error}


def by_kind(cases: Sequence[FigureCase]) -> dict[str, dict[FigureError, int]]:
    """Kind -> error -> number of questions, in the order of FIGURE_ERRORS."""
    counts: dict[str, Counter[FigureError]] = {}
    for case in cases:
        counts.setdefault(case.kind, Counter())[case.error] += 1
    return {
        kind: {error: counts[kind][error] for error in FIGURE_ERRORS if counts[kind][error]} for kind in sorted(counts)
    }


def gold_operands(question: Question, items: Sequence[LineItem] = ()) -> tuple[str, ...]:
    """The :func:`digits` of the printed numbers in the gold program, without scales and counts of periods; () if the
    program has fewer than two. A tagged fact has the digits of its line item among ``items``, else it is left as is."""
    program = question.program or ""
    found = [_tagged_digits(match, items) for match in _TAGGED.finditer(program)] or [
        digits(Decimal(match["digits"]))
        for match in _PROGRAM_NUMBER.finditer(program)
        if not (match["operator"] and (match["digits"] in _SCALES or _is_count(match)))
    ]
    operands = tuple(dict.fromkeys(found))
    return operands if len(operands) > 1 else ()


def _tagged_digits(fact: re.Match[str], items: Sequence[LineItem]) -> str:
    end = dt.date.fromisoformat(fact["end"])
    cells = (item.text for item in items if (item.concept, item.period_end) == (fact["concept"], end))
    printed = (number for cell in cells for number in find_numbers(cell))
    return next((digits(number.face) for number in printed), fact[0])


def digits(number: Decimal) -> str:
    """The significant digits of a number, which are the same at every scale: "2826" of 2,826,000."""
    return f"{abs(number):f}".replace(".", "").strip("0") or "0"


def _is_count(match: re.Match[str]) -> bool:
    return match["operator"] == "/" and match["digits"].isdigit() and int(match["digits"]) <= _LARGEST_COUNT


class _GoldPages:
    """The figures that the gold pages print, and those that the index parsed as line items."""

    def __init__(self, evidence: Sequence[GoldEvidence], ids: Mapping[str, str], pages: Pages) -> None:
        places = [(ids[e.doc_name], page) for e in evidence if e.doc_name in ids for page in e.pages]
        self.items = [item for filing_id, page in places for item in pages.line_items_of_page(filing_id, page)]
        texts = pages.page_texts(places) if places else {}
        self.printed = {digits(number.face) for text in texts.values() for number in find_numbers(text)}
        self.parsed = {digits(number.face) for item in self.items for number in find_numbers(item.text)}
        self.in_a_sentence = any(_is_sentence(e.text) for e in evidence if e.text)

    def parses_value(self, value: Number, reference: Number) -> bool:
        """Whether a line item has the gold value, at the precision of the gold answer."""
        return any(_same(number_of(item.value, item.unit), value, reference) for item in self.items)


def _same(item: Number, value: Number, reference: Number) -> bool:
    """Whether ``item`` has the gold ``value``, or prints as ``reference``. Signs are ignored."""
    return abs(item.value) == abs(value.value) or (item.value != 0 and same_when_printed(abs(reference), abs(item)))


def _case(question: Question, prediction: Prediction, reference: Number, gold: _GoldPages) -> FigureCase:
    operands = gold_operands(question, gold.items)
    value = _gold_value(question, reference)
    wanted = set(operands or (digits(value.face),))
    scaled = wanted <= gold.parsed
    parsed = scaled if operands else gold.parses_value(value, reference)
    printed = {operand for operand in wanted if operand.isdigit()} <= gold.printed | gold.parsed
    ending = _ending(prediction)
    kind = question.question_type or NO_TYPE

    def case(error: FigureError) -> FigureCase:
        return FigureCase(question.qid, kind, error, ending, parsed)

    if score(question, prediction)["numeric_accuracy"]:
        return case("right figure" if prediction.value is not None else "right in words")
    if ending == "error":
        return case("failed")
    passages = prediction.passages[:_PASSAGES]
    if not passages:
        return case("refused before search")
    if metrics.document_recall(passages, question.evidence) < 1:
        return case("wrong filing")
    if metrics.page_recall(passages, question.evidence) < 1:
        return case("wrong page")
    if ending == "figure":
        return case(_wrong_figure(prediction, value, operands))
    if parsed:
        return case(_not_given(prediction, operands))
    if scaled:
        return case("parsed at another scale")
    if not printed:
        return case("not printed")
    return case("in a sentence" if gold.in_a_sentence else "in a table, not parsed")


def _not_given(prediction: Prediction, operands: Sequence[str]) -> FigureError:
    """Why no value was given although all gold operands are line items; without a trace the row is to blame."""
    if not prediction.trace:
        return "parsed, row not chosen"
    planned = [int(match[1]) for line in prediction.trace if (match := _PLANNED.search(line))]
    if not planned:
        return "parsed, no plan"
    return "parsed, row not chosen" if (planned[0] > 1) == (len(operands) > 1) else "parsed, other operation planned"


def _wrong_figure(prediction: Prediction, value: Number, operands: Sequence[str]) -> FigureError:
    assert prediction.value is not None
    given = number_of(prediction.value, prediction.unit).value
    if _power_of_ten_apart(given, value.value):
        return "scale, unit or sign"
    read = {digits(number.face) for cell in prediction.operands for number in find_numbers(cell.text)}
    if bool(operands) != (len(prediction.operands) > 1) or (operands and set(operands) <= read):
        return "operation"
    return "other cell"


def _power_of_ten_apart(given: Decimal, gold: Decimal) -> bool:
    if not given or not gold:
        return False
    quotient = abs(given / gold)
    power = Decimal(10) ** round(quotient.log10())
    return abs(quotient / power - 1) < Decimal("0.006")


def _gold_value(question: Question, reference: Number) -> Number:
    return reference if question.value is None else number_of(question.value, question.unit)


def _ending(prediction: Prediction) -> Ending:
    if prediction.status == "error":
        return "error"
    if prediction.status == "unanswerable":
        return "refused"
    return "words" if prediction.value is None else "figure"


def _is_sentence(text: str) -> bool:
    words = len(_LOWER_WORD.findall(text))
    return words >= _SENTENCE_WORDS and words >= _WORDS_PER_FIGURE * len(figures(text))

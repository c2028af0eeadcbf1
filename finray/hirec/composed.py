"""Puts a model's reply together: its words, the values that its program computes, and the cells that both name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast, get_args

from finray.answering.grounding import figures, ungrounded_text, unspelled
from finray.answering.plans.wording import asked_value, shown
from finray.core.errors import ModelReplyError, SandboxError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.plan import Unit
from finray.core.predictions import Answer
from finray.core.query import Shape
from finray.core.question_fields import excerpt
from finray.hirec.exchange import is_finite_number
from finray.hirec.shown import CELL_NAME, Shown, ShownCell
from finray.question.measures.shape import asked_shape
from finray.sandbox.language import numbers
from finray.sandbox.runner import Sandbox

_MAX_UNIT_CHARACTERS = 40
_PLACEHOLDER = re.compile(r"\{ {0,4}([A-Za-z_]\w{0,80}) {0,4}(?::([\w/ ]{1,50}))?\}")
_PERCENT = "percent"


@dataclass(frozen=True, slots=True)
class Written:
    """Parts of a reply: words with placeholders such as ``{answer}``, a program over cells, its result's unit."""

    text: str
    program: str = ""
    unit: str = ""


class Composer:
    """Runs programs in ``sandbox``. A cell's name in a program is its exact value; a percentage is 12.5 for 12.5%."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def answer(
        self, written: Written, cited: Sequence[Passage], shown: Shown, question: str, journal: Journal
    ) -> Answer:
        """The answer that rests on the ``cited`` passages and those of the cells that it names.

        It is grounded if these print every figure of the program and of the words, except what the program derives.
        Raises ModelReplyError if the program has no number as result, or if the words name what is not there.
        """
        shape = asked_shape(question)
        named = _named_cells(f"{written.program}\n{written.text}", shown)
        evidence = tuple(dict.fromkeys((*cited, *(p for cell in named.values() for p in cell.passages))))
        texts = shown.texts(evidence)
        values: dict[str, object] = {name: cell.cited.value for name, cell in named.items()}
        absent: list[str] = []
        value: float | None = None
        if written.program:
            value, absent = await self._run(written.program, named, values, texts, question, journal)
        fill = _filler(values, named, written.unit, shape)
        filled, bare = _PLACEHOLDER.sub(fill, written.text), _PLACEHOLDER.sub(" ", written.text)
        derived = [each for each in values.values() if is_finite_number(each)]
        absent += [each for each in ungrounded_text(bare, texts, question) if not _is_derived(each, derived)]
        text = filled
        if value is not None:
            worded = _worded(value, written.unit, shape)
            states = "{answer" in written.text or any(_is_derived(each, [value]) for each in _FIGURE.findall(bare))
            text = worded if not filled else filled if states else f"{filled} ({worded})"
        return Answer(
            _flagged(text, absent),
            "answered",
            None if value is None else _value(value, written.unit, shape),
            None if value is None else written.unit[:_MAX_UNIT_CHARACTERS] or None,
            written.program or None,
            evidence,
            tuple(cell.cited for cell in named.values()),
            grounded=not absent,
        )

    async def _run(
        self,
        program: str,
        cells: Mapping[str, ShownCell],
        values: dict[str, object],
        texts: Sequence[str],
        question: str,
        journal: Journal,
    ) -> tuple[float, list[str]]:
        """The program's result, and its figures that ``texts`` do not print. Adds its variables to ``values``."""
        variables = {name: cell.cited.value for name, cell in cells.items()}
        written = numbers(_SCALE.sub(" ", CELL_NAME.sub(" ", program)))
        printed = figures(written, texts, question)
        try:
            result = await self._sandbox.run_async(program, variables, printed)
        except SandboxError as error:
            raise ModelReplyError(f"answer: the program has no result: {error}") from error
        if not is_finite_number(result.value):
            raise ModelReplyError(f"answer: the program's `answer` is not a number: {excerpt(repr(result.value), 120)}")
        journal.note(f"answer: the program gave {result.value!r} in {result.seconds:.2f} s")
        values |= {**result.variables, "answer": float(result.value)}
        return float(result.value), [f"{literal:,}" for literal in unspelled(result.ungrounded, texts)]


_SCALE = re.compile(r"\b10\s*\*\*\s*\d+")
"""A power of ten is a scale, even where the page prints a 6."""
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SCALES = (1.0, 1e3, 1e6, 1e9, 1e-2)


def _named_cells(text: str, shown: Shown) -> dict[str, ShownCell]:
    """The cells that ``text`` names. Raises ModelReplyError if it names one that was not shown."""
    names = dict.fromkeys(CELL_NAME.findall(text))
    if shown.cells and (stranger := next((name for name in names if name not in shown.cells), None)):
        raise ModelReplyError(f"answer: there is no cell {stranger}")
    return {name: shown.cells[name] for name in names if name in shown.cells}


def _filler(
    values: Mapping[str, object], cells: Mapping[str, ShownCell], unit: str, shape: Shape
) -> Callable[[re.Match[str]], str]:
    def fill(match: re.Match[str]) -> str:
        name, own = match[1], (match[2] or "").strip()
        value = values.get(name)
        if not is_finite_number(value):
            raise ModelReplyError(f"answer: `answer` names {{{name}}}, neither a number of the program nor a cell")
        of_cell = cells[name].unit if name in cells else None
        return _worded(float(cast(float, value)), own or of_cell or unit, shape if name == "answer" else _plain(shape))

    return fill


def _plain(shape: Shape) -> Shape:
    """The shape of figures beside the answer: its scale, in the usual number of digits."""
    return Shape(shape.scale, None, shape.currency)


def _worded(value: float, unit: str, shape: Shape) -> str:
    """The number in words, in the scale and rounding that the question asks for; a count of shares in full."""
    exact = unit == "shares" and shape.scale is None and value != round(value, -5)
    if unit not in get_args(Unit) or exact:
        return f"{value:,.10g}{f' {excerpt(unit, _MAX_UNIT_CHARACTERS)}' if unit else ''}"
    return shown(value / 100 if unit == _PERCENT else value, cast(Unit, unit), shape)


def _value(value: float, unit: str, shape: Shape) -> float:
    if unit not in get_args(Unit):
        return value
    return asked_value(value / 100 if unit == _PERCENT else value, cast(Unit, unit), shape)[0]


def _is_derived(literal: str, values: Iterable[object]) -> bool:
    """Whether ``literal`` is one of ``values`` as people write it: rounded, and in thousands, millions, billions or as
    a fraction."""
    try:
        printed = Decimal(literal.replace(",", "")[:40])
    except ArithmeticError:
        return False
    exponent = printed.as_tuple().exponent
    half = 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0
    return any(
        abs(abs(float(cast(float, value))) / scale - float(printed)) <= half * 1.000001
        for value in values
        for scale in _SCALES
    )


def _flagged(text: str, absent: Sequence[str]) -> str:
    if not absent:
        return text
    named = "; ".join(excerpt(part, 80) for part in dict.fromkeys(absent[:5]))
    return f"{text} (Not grounded: the cited passages do not hold {named}.)"

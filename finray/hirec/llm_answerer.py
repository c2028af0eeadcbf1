"""Answers by a language model: a program of thought for numbers, a chain of thought with citations for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from finray.answering.grounding import figures, ungrounded_text, unspelled
from finray.answering.wording import asked_value, shown
from finray.core.errors import ModelReplyError, SandboxError
from finray.core.journal import Journal
from finray.core.plan import Unit
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.roles import Curation
from finray.core.types import Answer, Passage
from finray.hirec.exchange import ask, cited, flag_of, is_finite_number, text_of
from finray.hirec.prompts import ANSWER
from finray.models.chat import ChatModel
from finray.question.shape import asked_shape
from finray.sandbox.language import numbers
from finray.sandbox.runner import Sandbox

_TRACED_CHARACTERS = 1_000
_MAX_UNIT_CHARACTERS = 40


class LlmAnswerer:
    """HiREC's generation (arXiv 2505.20368, section 3.3) in one call: the model reasons, cites, and writes a program if
    the question asks for a number. ``sandbox`` runs the program; its result is the answer, not the model's own number.

    The cited passages must print every figure that the program computes from, and every number and quotation of an
    answer in words; else ``Answer.grounded`` is False and the text names what is missing. Raises ModelReplyError if the
    reply or its program is unusable after one more try.
    """

    def __init__(self, model: ChatModel, sandbox: Sandbox) -> None:
        self._model = model
        self._sandbox = sandbox

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        passages = curation.kept
        if not passages:
            return Answer(
                "Not answerable: no passage was found in the index.", "unanswerable", missing=("any passage",)
            )

        async def read(reply: Mapping[str, Any]) -> Answer:
            return await self._read(reply, query.question, passages, journal)

        return await ask(self._model, ANSWER, query.question, passages, read, journal)

    async def _read(
        self, reply: Mapping[str, Any], question: str, passages: Sequence[Passage], journal: Journal
    ) -> Answer:
        stage = ANSWER.stage
        answerable = flag_of(reply, "answerable", stage)
        evidence = cited(reply, "citations", passages, stage, journal)
        text = text_of(reply, "answer", stage)
        program = text_of(reply, "program", stage)
        unit = text_of(reply, "unit", stage)
        if reasoning := text_of(reply, "reasoning", stage):
            journal.note(f"answer: {excerpt(reasoning, _TRACED_CHARACTERS)}")
        if not (text or program):
            raise ModelReplyError("answer: the reply's 'answer' and 'program' are both empty")
        if not answerable:
            return Answer(text or "Not answerable.", "unanswerable", evidence=evidence, missing=(text,) if text else ())
        if not evidence:
            return Answer(
                f"Not answerable: the model cited no passage for {excerpt(text or program)!r}.",
                "unanswerable",
                missing=("a passage that supports the model's answer",),
            )
        if program:
            return await self._computed(program, unit, question, evidence, journal)
        absent = ungrounded_text(text, [passage.text for passage in evidence], question)
        return Answer(_flagged(text, absent), "answered", evidence=evidence, grounded=not absent)

    async def _computed(
        self, program: str, unit: str, question: str, evidence: tuple[Passage, ...], journal: Journal
    ) -> Answer:
        texts = [passage.text for passage in evidence]
        try:
            result = await self._sandbox.run_async(program, figures=figures(numbers(program), texts, question))
        except SandboxError as error:
            raise ModelReplyError(f"answer: the program has no result: {error}") from error
        if not is_finite_number(result.value):
            raise ModelReplyError(f"answer: the program's `answer` is not a number: {excerpt(repr(result.value), 120)}")
        value = float(result.value)
        absent = unspelled(result.ungrounded, texts)
        journal.note(f"answer: the program gave {result.value!r} in {result.seconds:.2f} s")
        text, number = _worded(value, unit, question)
        return Answer(
            _flagged(text, [f"{literal:,}" for literal in absent]),
            "answered",
            number,
            unit[:_MAX_UNIT_CHARACTERS] or None,
            program,
            evidence,
            grounded=not absent,
        )


def _worded(value: float, unit: str, question: str) -> tuple[str, float]:
    """The number in words and as a value, in the scale and rounding that the question asks for."""
    shape = asked_shape(question)
    if unit not in get_args(Unit):
        return f"{value:,.10g}{f' {excerpt(unit, _MAX_UNIT_CHARACTERS)}' if unit else ''}", value
    known = cast(Unit, unit)
    plain = value / 100 if known == "percent" else value  # fractions here, 12.5 for 12.5% from the model
    return shown(plain, known, shape), asked_value(plain, known, shape)[0]


def _flagged(text: str, absent: Sequence[str]) -> str:
    if not absent:
        return text
    named = "; ".join(excerpt(part, 80) for part in absent[:5])
    return f"{text} (Not grounded: the cited passages do not hold {named}.)"

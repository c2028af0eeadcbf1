"""Answers as HiREC published them (arXiv 2505.20368, section 4.3): a program of thought for figures, a chain of thought
for the rest."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from finray.answering.grounding import figures, ungrounded_text, unspelled
from finray.core.errors import ModelReplyError, SandboxError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.roles import Curation
from finray.hirec.exchange import is_finite_number
from finray.hirec.published_prompts import chain_prompt, program_prompt
from finray.hirec.published_roles import replied, titled
from finray.models.chat import ChatModel
from finray.question.rule_reader import plain_query
from finray.sandbox.language import numbers
from finray.sandbox.runner import Sandbox

STAGE: Final = "answer"
Generation = Literal["auto", "program", "chain"]

_IN_WORDS = frozenset({"words", "not_an_amount"})
"""Intents of questions that ask for no figure (finray/question/intents.toml)."""
_FENCE = re.compile(r"^[ \t]*```.*$", re.M)
_SOLUTION = re.compile(r"^def solution\b", re.M)
_FINAL = re.compile(r"\b(?:therefore, )?the (?:final )?answer is:?(?=\s)", re.I)
_TRACED_CHARACTERS = 1_000


class PublishedAnswerer:
    """HiREC's generator. The program of a reply runs in ``sandbox`` and what it returns is the answer; of a chain of
    thought, what follows "Therefore, the answer is".

    All passages are the evidence. Whether they print the answer's figures is checked (``Answer.grounded``) but changes
    nothing. ``titles`` has the title of each filing id. Raises ModelReplyError for a reply without an answer, which
    counts as unusable.
    """

    def __init__(self, model: ChatModel, sandbox: Sandbox, titles: Mapping[str, str], generation: Generation) -> None:
        self._model = model
        self._sandbox = sandbox
        self._titles = titles
        self._generation = generation

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        passages = curation.kept
        computes = _asks_for_figure(query.question) if self._generation == "auto" else self._generation == "program"
        prompt = program_prompt if computes else chain_prompt
        messages = prompt(query.question, titled(passages, self._titles))
        text = await replied(self._model, messages, STAGE, journal)
        try:
            return await self._computed(text, query, passages, journal) if computes else _said(text, query, passages)
        except ModelReplyError as error:
            journal.unusable_reply(STAGE, str(error))
            raise

    async def _computed(self, text: str, query: Query, passages: Sequence[Passage], journal: Journal) -> Answer:
        program = program_of(text)
        journal.note(f"answer: {excerpt(program, _TRACED_CHARACTERS)}")
        texts = [passage.text for passage in passages]
        try:
            result = await self._sandbox.run_async(program, figures=figures(numbers(program), texts, query.question))
        except SandboxError as error:
            raise ModelReplyError(f"answer: the program has no result: {error}") from error
        value = result.value
        grounded = not unspelled(result.ungrounded, texts)
        if is_finite_number(value):
            return Answer(f"{value:,.10g}", "answered", float(value), None, program, tuple(passages), grounded=grounded)
        if isinstance(value, bool | str) and str(value).strip():
            return Answer(str(value), "answered", None, None, program, tuple(passages), grounded=grounded)
        raise ModelReplyError(f"answer: the program returns no answer: {excerpt(repr(value), 120)}")


def _asks_for_figure(question: str) -> bool:
    """Decided by the question's own words: a model's rewriting of it has others."""
    return not plain_query(question).intents & _IN_WORDS


def program_of(reply: str) -> str:
    """The function ``solution`` of a reply, or its body, with which a model continues the prompt.

    Raises ModelReplyError for an empty reply; whether it is a program is for the sandbox to find.
    """
    outside, *rest = map(textwrap.dedent, _FENCE.split(reply))
    blocks = [block for block in rest[::2] if block.strip()] or [outside]  # a continued program has only its end
    code = next((block for block in reversed(blocks) if _SOLUTION.search(block)), blocks[0])
    if found := _SOLUTION.search(code):
        return code[found.start() :].strip()
    if not (body := code.strip("\n")).strip():
        raise ModelReplyError("answer: the reply holds no program")
    return f"def solution():\n{textwrap.indent(_aligned(body), '    ')}"


def _aligned(body: str) -> str:
    """``body`` with its first line indented as the second, if only that makes it parse: the prompt's last line already
    has the indentation with which the model continues it."""
    first, _, rest = body.partition("\n")
    depth = rest[: len(rest) - len(rest.lstrip())]
    moved = textwrap.dedent(f"{depth}{first}\n{rest}")
    return moved if not _parses(body) and _parses(moved) else body


def _parses(body: str) -> bool:
    try:
        ast.parse(f"def solution():\n{textwrap.indent(body, '    ')}")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _said(text: str, query: Query, passages: Sequence[Passage]) -> Answer:
    """The final answer of a chain of thought, the whole reply if it marks none."""
    if not text.strip():
        raise ModelReplyError("answer: the reply is empty")
    marked = list(_FINAL.finditer(text))
    answer = text[marked[-1].end() :].strip() if marked else ""
    answer = answer or text.strip()
    absent = ungrounded_text(answer, [passage.text for passage in passages], query.question)
    return Answer(answer, "answered", evidence=tuple(passages), grounded=not absent)

"""Curation and answers by a language model in finray's own way: over readable evidence, with cells by name, in one call
or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.roles import FIRST, Curation, Curator, FollowUp, Turn
from finray.hirec.composed import Composer, Written
from finray.hirec.exchange import chosen, converse, flag_of, text_of
from finray.hirec.model_reader import spelled_of
from finray.hirec.own_prompts import ANSWER, CURATE, RESPOND
from finray.hirec.prompts import Prompt, with_at_most
from finray.hirec.shown import Show, Shown, messages_over
from finray.models.chat import ChatModel

_TRACED_CHARACTERS = 1_000
_NOTHING = Answer("Not answerable: no passage was found in the index.", "unanswerable", missing=("any passage",))


class ModelCurator:
    """Keeps evidence, and asks for more by question, statement or neighbors; never in the last round. If the reply
    stays unusable, ``rules`` curate instead, which the trace notes."""

    def __init__(self, model: ChatModel, rules: Curator, show: Show) -> None:
        self._model = model
        self._rules = rules
        self._show = show

    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal, turn: Turn = FIRST) -> Curation:
        if not passages:
            return Curation((), answerable=False, missing=("any passage",))
        shown = self._show(query, passages, turn.kept, turn.asked)

        async def read(reply: Mapping[str, Any]) -> Curation:
            kept = _passages(reply, "relevant_ids", shown, CURATE.stage, journal)
            if flag_of(reply, "enough", CURATE.stage):
                return Curation(kept, answerable=True)
            return _asking(reply, kept, shown, turn, CURATE.stage, journal)

        prompt = _bounded(CURATE, shown)
        try:
            return await converse(
                self._model, prompt, messages_over(prompt.instructions, query, shown, turn), read, journal
            )
        except ModelReplyError as error:
            journal.note(f"curate: {error}; the rule-based curator decides instead")
            return await self._rules.curate(query, passages, journal, turn)


class ModelAnswerer:
    """Answers from curated evidence, in words, by a program over cells, or both."""

    def __init__(self, model: ChatModel, composer: Composer, show: Show) -> None:
        self._model = model
        self._composer = composer
        self._show = show

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        """Raises ModelReplyError if the reply or its program is unusable after one more try."""
        if not curation.kept:
            return _NOTHING
        shown = self._show(query, curation.kept, 0, None)

        async def read(reply: Mapping[str, Any]) -> Answer:
            if flag_of(reply, "answerable", ANSWER.stage):
                return await _answered(reply, shown, query.question, ANSWER.stage, self._composer, journal)
            return _refused(reply, shown, ANSWER.stage, journal)

        prompt = _bounded(ANSWER, shown)
        return await converse(self._model, prompt, messages_over(prompt.instructions, query, shown), read, journal)


class ModelResponder:
    """Curates and answers in one call: the model answers if the evidence suffices, else asks for more. If the reply
    stays unusable, ``rules`` curate and the answerer answers, which the trace notes."""

    def __init__(self, model: ChatModel, rules: Curator, composer: Composer, show: Show) -> None:
        self._model = model
        self._rules = rules
        self._composer = composer
        self._show = show

    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal, turn: Turn = FIRST) -> Curation:
        if not passages:
            return Curation((), answerable=False, missing=("any passage",), answer=_NOTHING)
        shown = self._show(query, passages, turn.kept, turn.asked)
        stage = RESPOND.stage

        async def read(reply: Mapping[str, Any]) -> Curation:
            if flag_of(reply, "enough", stage):
                answer = await _answered(reply, shown, query.question, stage, self._composer, journal)
                return Curation(answer.evidence, answerable=True, answer=answer)
            kept = _passages(reply, "citations", shown, stage, journal)
            asking = _asking(reply, kept, shown, turn, stage, journal)
            return asking if asking.follow_up else replace(asking, answer=_refused(reply, shown, stage, journal))

        prompt = _bounded(RESPOND, shown)
        try:
            return await converse(
                self._model, prompt, messages_over(prompt.instructions, query, shown, turn), read, journal
            )
        except ModelReplyError as error:
            journal.note(f"{stage}: {error}; the rule-based curator decides instead")
            return await self._rules.curate(query, passages, journal, turn)


async def _answered(
    reply: Mapping[str, Any], shown: Shown, question: str, stage: str, composer: Composer, journal: Journal
) -> Answer:
    written = Written(text_of(reply, "answer", stage), text_of(reply, "program", stage), text_of(reply, "unit", stage))
    if reasoning := text_of(reply, "reasoning", stage):
        journal.note(f"{stage}: {excerpt(reasoning, _TRACED_CHARACTERS)}")
    if not (written.text or written.program):
        raise ModelReplyError(f"{stage}: the reply's 'answer' and 'program' are both empty")
    answer = await composer.answer(
        written, _passages(reply, "citations", shown, stage, journal), shown, question, journal
    )
    if not answer.evidence:
        raise ModelReplyError(f"{stage}: the reply's 'citations' name no passage that the answer rests on")
    return answer


def _refused(reply: Mapping[str, Any], shown: Shown, stage: str, journal: Journal) -> Answer:
    missing = text_of(reply, "missing", stage) if "missing" in reply else ""
    text = text_of(reply, "answer", stage) or missing
    evidence = _passages(reply, "citations", shown, stage, journal)
    return Answer(
        text or "Not answerable.",
        "unanswerable",
        evidence=evidence,
        missing=(missing or text,) if missing or text else (),
    )


def _asking(
    reply: Mapping[str, Any], kept: tuple[Passage, ...], shown: Shown, turn: Turn, stage: str, journal: Journal
) -> Curation:
    """The curation that asks for what is missing; for nothing in the last round, or if the model names nothing."""
    missing = text_of(reply, "missing", stage)
    spelled = spelled_of(reply, stage, journal)
    follow_up = FollowUp(spelled, _passages(reply, "neighbours", shown, stage, journal))
    asks = bool(spelled.text or spelled.statements or follow_up.neighbors)
    if asks and turn.last:
        journal.note(f"{stage}: asked for {str(follow_up)!r} in the last round")
    return Curation(kept, False, (missing,) if missing else (), follow_up=follow_up if asks and not turn.last else None)


def _passages(reply: Mapping[str, Any], name: str, shown: Shown, stage: str, journal: Journal) -> tuple[Passage, ...]:
    parts = chosen(reply, name, shown.parts, stage, journal)
    return tuple(dict.fromkeys(passage for part in parts for passage in part.passages))


def _bounded(prompt: Prompt, shown: Shown) -> Prompt:
    return replace(prompt, schema=with_at_most(len(shown.parts), prompt.schema))

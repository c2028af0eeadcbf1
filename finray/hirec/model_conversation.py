"""Completes follow-up questions by a language model, checked against what the questions name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.question_fields import excerpt, single_spaced
from finray.core.roles import Resolution
from finray.hirec.exchange import converse, question_of, text_of, unusable
from finray.hirec.own_prompts import RESOLVE
from finray.models.chat import ChatModel, Message
from finray.models.fences import unfenced
from finray.question.follow_ups.conversation import RuleConversation

_MOST_UNCLEAR = 300


class ModelConversation:
    """Asks ``model`` for the question complete in itself, unless it is complete already.

    A reply that drops a company or period that the question names, or adds one that no question names, is not used;
    then ``rules`` complete the question, which the trace notes.
    """

    def __init__(self, model: ChatModel, rules: RuleConversation) -> None:
        self._model = model
        self._rules = rules

    async def resolve(self, question: str, earlier: Sequence[str], journal: Journal) -> Resolution:
        if self._rules.is_complete(question):
            return Resolution(question)

        async def read(reply: Mapping[str, Any]) -> Resolution:
            unclear = excerpt(single_spaced(text_of(reply, "unclear", RESOLVE.stage)), _MOST_UNCLEAR)
            if unclear:
                return Resolution(question, unclear)
            resolved = question_of(reply, "question", RESOLVE.stage)
            if not resolved:
                raise unusable(RESOLVE.stage, "question", "a question", resolved)
            return Resolution(resolved)

        before = "\n".join(f"{number}. {unfenced(each)}" for number, each in enumerate(earlier, start=1))
        asked = f"Earlier questions:\n{before}\n\nLast question: {unfenced(question)}"
        messages = [Message("system", RESOLVE.instructions), Message("user", asked)]
        try:
            found = await converse(self._model, RESOLVE, messages, read, journal)
        except ModelReplyError as error:
            journal.note(f"conversation: {error}; the rules complete the question instead")
            return self._rules.resolved(question, earlier)
        if found.unclear or self._rules.agrees(found.question, question, earlier):
            return found
        journal.note(
            f"conversation: {excerpt(found.question, 200)!r} changes companies or periods; the rules complete the "
            "question instead"
        )
        return self._rules.resolved(question, earlier)

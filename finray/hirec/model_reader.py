"""Reads questions by a language model: one structured reply, checked against the catalog and the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, get_args

from finray.core.errors import ModelReplyError
from finray.core.filing import Statement
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.question_fields import excerpt, single_spaced
from finray.core.spelled import OPERATIONS, Spelled
from finray.hirec.exchange import converse, question_of, text_of, unusable
from finray.hirec.own_prompts import READ
from finray.models.chat import ChatModel
from finray.models.conversation import conversation
from finray.question.rule_reader import RuleReader, described
from finray.question.spelled import resolved

T = TypeVar("T", bound=str)

MAX_NAMES = 12
"""Companies, periods, items and statements that one reply may list of each; further ones are dropped."""
_MAX_NAME_CHARACTERS = 120


class ModelReader:
    """Asks ``model`` once what a question names, and resolves that against the catalog and the words of ``rules``.

    If the reply stays unusable, ``rules`` read the question instead, which the trace notes.
    """

    def __init__(self, model: ChatModel, rules: RuleReader) -> None:
        self._model = model
        self._rules = rules

    async def read(self, question: str, journal: Journal) -> Query:
        async def read(reply: Mapping[str, Any]) -> Spelled:
            spelled = spelled_of(reply, READ.stage, journal)
            if not spelled.text:
                raise unusable(READ.stage, "question", "a question", spelled.text)
            wanted = _choice(reply, "answer", ("figure", "words", ""), READ.stage, journal)
            return replace(
                spelled,
                items=names_of(reply, "items", READ.stage, journal),
                operation=_choice(reply, "operation", OPERATIONS, READ.stage, journal) or "",
                figure={"figure": True, "words": False}.get(wanted or ""),
            )

        try:
            spelled = await converse(self._model, READ, conversation(READ.instructions, question), read, journal)
        except ModelReplyError as error:
            journal.note(f"transform: {error}; the rules read the question instead")
            return await self._rules.read(question, journal)
        query = resolved(question, spelled, self._rules, journal)
        journal.note(f"transform: {excerpt(query.text, 300)!r}")
        for line in described(query):
            journal.note(line)
        return query


def spelled_of(reply: Mapping[str, Any], stage: str, journal: Journal) -> Spelled:
    """The question, companies, periods, form and statements of ``reply``; other statements are dropped and noted.

    Raises ModelReplyError for a value of another kind than the schema's.
    """
    return Spelled(
        question_of(reply, "question", stage),
        companies=names_of(reply, "companies", stage, journal),
        periods=names_of(reply, "periods", stage, journal),
        form=text_of(reply, "form", stage)[:_MAX_NAME_CHARACTERS],
        statements=statements_of(reply, "statements", stage, journal),
    )


def statements_of(reply: Mapping[str, Any], name: str, stage: str, journal: Journal) -> tuple[Statement, ...]:
    """The primary statements under ``name``; others are dropped and noted."""
    named = names_of(reply, name, stage, journal)
    statements = {statement: statement for statement in get_args(Statement)}
    for other in named:
        if other not in statements:
            journal.note(f"{stage}: dropped statement {excerpt(other, 40)!r}; there are {', '.join(statements)}")
    return tuple(statements[each] for each in named if each in statements)


def names_of(reply: Mapping[str, Any], name: str, stage: str, journal: Journal) -> tuple[str, ...]:
    """The texts in the list under ``name``, each on one line; longer ones and those after ``MAX_NAMES`` are dropped and
    noted. An absent list is empty."""
    values = reply.get(name)
    if values is None:
        return ()
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise unusable(stage, name, "a list of texts", values)
    lines = [single_spaced(value) for value in values]
    kept = [line for line in lines if 0 < len(line) <= _MAX_NAME_CHARACTERS]
    dropped = [line for line in lines if len(line) > _MAX_NAME_CHARACTERS] + kept[MAX_NAMES:]
    for line in dropped[:MAX_NAMES]:
        journal.note(f"{stage}: dropped {excerpt(line, 40)!r} of {name!r}")
    return tuple(dict.fromkeys(kept[:MAX_NAMES]))


def _choice(reply: Mapping[str, Any], name: str, choices: Sequence[T], stage: str, journal: Journal) -> T | None:
    """The one of ``choices`` under ``name``; another text is dropped and noted."""
    given = text_of(reply, name, stage).lower()
    chosen = next((choice for choice in choices if choice == given), None)
    if chosen is None:
        journal.note(f"{stage}: dropped {name} {excerpt(given, 40)!r}")
    return chosen

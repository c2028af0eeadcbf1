"""Asks a language model for the entities and relations on pages (LightRAG, arXiv 2410.05779, section 3.1)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Final

from finray.core.errors import ModelReplyError
from finray.core.predictions import TokenUsage
from finray.models.chat import ChatModel, Message
from finray.models.conversation import DATA_RULE
from finray.models.fences import code_of, fenced
from finray.retrieval.graph.parts import (
    MAX_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    Entity,
    FilingGraph,
    Relation,
    cleaned,
    merged,
)

DELIMITER: Final = "<|>"
DONE: Final = "<|COMPLETE|>"
EXTRACT: Final = (
    "You extract a knowledge graph from a page of an SEC filing. "
    + DATA_RULE
    + " First identify the entities. Write each on a line of its own: "
    f"entity{DELIMITER}name{DELIMITER}type{DELIMITER}description. The type is one of: organization, person, location, "
    "line item, product, event, concept. Describe what the page says about it, with figures and periods. Then identify "
    "the pairs of these entities that are clearly related. Write each on a line of its own: "
    f"relation{DELIMITER}source{DELIMITER}target{DELIMITER}description{DELIMITER}keywords{DELIMITER}strength. The "
    "keywords name the theme of the relation, separated by commas; the strength is a number from 1 to 10. Use nothing "
    f"but the page. End with {DONE}."
)
_MIN_CHARACTERS = 200
"""The model is not asked about pages with less text."""
_FIELD_MARKS = " \t\"'()[]{}`*"
_KINDS = {"entity": 4, "relation": 6, "relationship": 6}
"""Kind of a line and its number of fields."""


async def written_graph(
    chat: ChatModel, pages: Sequence[tuple[int, str]], source: str
) -> tuple[FilingGraph, TokenUsage]:
    """The graph of (number, text) ``pages``, with one request for each. ``source`` names the filing.

    Pages about which the model writes nothing usable are listed in the graph. Raises ModelReplyError if that is every
    page.
    """
    asked = [(page, text) for page, text in pages if len(text.strip()) >= _MIN_CHARACTERS]
    replies = await asyncio.gather(*(chat.chat(_messages(page, text, source)) for page, text in asked))
    entities: list[Entity] = []
    relations: list[Relation] = []
    unusable: list[int] = []
    usage = TokenUsage()
    for (page, _), reply in zip(asked, replies, strict=True):
        usage += reply.usage
        found, related = read_graph(reply.text, page)
        if not found and DONE not in reply.text:
            unusable.append(page)
        entities += found
        relations += related
    if asked and len(unusable) == len(asked):
        raise ModelReplyError(
            f"lightrag: no reply about {source} is a list of entities; the last: {replies[-1].text[:120]!r}"
        )
    return merged(entities, relations, unusable), usage


def _messages(page: int, text: str, source: str) -> list[Message]:
    shown = fenced("passage", code_of([source, text]), text, {"source": f"{source}, p. {page + 1}"})
    return [Message("system", EXTRACT), Message("user", shown)]


def read_graph(reply: str, page: int) -> tuple[list[Entity], list[Relation]]:
    """The entities and relations that ``reply`` lists; lines in another form are left out."""
    entities: list[Entity] = []
    relations: list[Relation] = []
    for line in re.split(r"\n|##", reply.replace(DONE, "")):
        fields = [field.strip(_FIELD_MARKS) for field in line.strip(_FIELD_MARKS).split(DELIMITER)]
        if len(fields) < _KINDS.get(fields[0].lower(), len(fields) + 1):
            continue
        names = [cleaned(field, MAX_NAME_CHARACTERS) for field in fields[1:3]]
        if fields[0].lower() == "entity" and names[0]:
            entities.append(Entity(names[0], names[1].lower(), cleaned(fields[3], MAX_TEXT_CHARACTERS), (page,)))
        elif fields[0].lower() != "entity" and all(names):
            text, keywords = (cleaned(field, MAX_TEXT_CHARACTERS) for field in fields[3:5])
            relations.append(Relation(names[0], names[1], text, keywords, _strength(fields[5]), (page,)))
    return entities, relations


def _strength(text: str) -> float:
    number = re.match(r"\d{1,3}(?:\.\d{1,3})?", text)
    return min(float(number[0]), 10.0) if number else 1.0

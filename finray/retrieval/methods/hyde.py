"""``hyde``: search with the vector of a passage that a language model imagines.

Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels" (arXiv 2212.10496). The search vector is the
mean of the vectors of the question and the imagined passages (equation 8). The paper samples several passages at
temperature 0.7; at the low temperature of a batch job samples are nearly equal, so one is the default.

``sampled`` asks as arXiv 2602.17981 does instead: one request for each passage with that paper's prompt (section 4.4),
at temperature 0.7 and at most 200 tokens. After ``+``, as in ``bm25+hyde``, another method searches for the passages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from finray.core.journal import Journal
from finray.core.method_settings import HydeParameters
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.models.chat import Message
from finray.models.conversation import conversation
from finray.models.fences import unfenced
from finray.retrieval.methods.asking import Asker
from finray.retrieval.methods.dense import dense_passages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import QueryWriter, WrittenPassages

INSTRUCTIONS: Final = (
    "You write text that could stand in an SEC filing. Write {passages} that would answer the user's question, in the "
    "wording and layout of an annual or quarterly report{variety}. Name the company and the period. Invent figures "
    "where you do not know them: they serve to search, nobody reads them. At most 150 words a passage."
)
SAMPLED_PROMPT: Final = (
    "Please write a short financial report excerpt (1 paragraph) that precisely answers the question below. Do not "
    "introduce the text, just write the excerpt.\nQuestion: {question}\nPassage:"
)
SAMPLED_TEMPERATURE: Final = 0.7
SAMPLED_TOKENS: Final = 200
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"passages": {"type": "array", "items": {"type": "string"}}},
    "required": ["passages"],
    "additionalProperties": False,
}
_Ask = Callable[[str, Journal], Awaitable[list[str]]]


def imagining(tools: Toolbox, stage: str, chosen: HydeParameters) -> QueryWriter:
    """A writer of queries with imagined passages in place of the question, or besides it. The journal counts their
    tokens under ``stage``."""
    ask = _sampled(tools, stage, chosen) if chosen.sampled else _in_one_call(tools, stage, chosen)

    async def write(query: Query, journal: Journal) -> Query:
        texts = await ask(query.question, journal)
        journal.note(f"{stage}: {len(texts)} imagined; the first: {excerpt(texts[0], 120)!r}")
        return replace(query, question=query.question if chosen.with_question else "", imagined=tuple(texts))

    return write


def _in_one_call(tools: Toolbox, stage: str, chosen: HydeParameters) -> _Ask:
    chat = tools.chat_model()

    async def ask(question: str, journal: Journal) -> list[str]:
        asker = Asker(chat, stage, journal)
        reply = await asker.reply(conversation(_instructions(chosen.passages), question), schema=SCHEMA)
        return _texts((reply.parsed or {}).get("passages"), asker)[: chosen.passages]

    return ask


def _sampled(tools: Toolbox, stage: str, chosen: HydeParameters) -> _Ask:
    samplers = [
        tools.chat_model(temperature=SAMPLED_TEMPERATURE, max_tokens=SAMPLED_TOKENS, seed=seed)
        for seed in range(chosen.passages)
    ]

    async def ask(question: str, journal: Journal) -> list[str]:
        prompt = [Message("user", SAMPLED_PROMPT.format(question=unfenced(question)))]
        replies = await asyncio.gather(*(sampler.chat(prompt) for sampler in samplers))
        for reply in replies:
            journal.spend(stage, reply.usage)
        return _texts([reply.text for reply in replies], Asker(samplers[0], stage, journal))

    return ask


def _instructions(count: int) -> str:
    if count == 1:
        return INSTRUCTIONS.format(passages="one passage", variety="")
    variety = ", each as another part of the report would state it (statement, note, discussion)"
    return INSTRUCTIONS.format(passages=f"{count} different passages", variety=variety)


def _texts(passages: object, asker: Asker) -> list[str]:
    """The ``passages`` of a reply that are not blank. Raises ModelReplyError if there are none."""
    if not isinstance(passages, list) or not all(isinstance(text, str) for text in passages):
        raise asker.unusable(f"the reply's 'passages' is not a list of texts: {excerpt(repr(passages), 120)}")
    texts = [text for text in passages if text.strip()]
    if not texts:
        raise asker.unusable("the reply has no passage")
    return texts


def writer(tools: Toolbox) -> QueryWriter:
    return imagining(tools, "hyde", tools.settings.methods.hyde)


def build(tools: Toolbox) -> Retrieval:
    return tools.flat(WrittenPassages(dense_passages(tools), writer(tools)))

"""``ircot``: retrieval and reasoning take turns.

Trivedi et al., "Interleaving Retrieval with Chain-of-Thought Reasoning for Knowledge-Intensive Multi-Step Questions"
(ACL 2023, arXiv 2212.10509). BM25 finds passages for the question; a language model writes the next sentence of its
reasoning; BM25 finds passages for that sentence; and so on until the reasoning contains "answer is", or until the
limit of steps or paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from finray.core.journal import Journal
from finray.core.method_settings import IrcotParameters
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.roles import PassageRetriever
from finray.models.chat import ChatModel
from finray.models.conversation import DATA_RULE, conversation
from finray.retrieval.fusion import place
from finray.retrieval.methods.asking import Asker
from finray.retrieval.methods.bm25 import lexical_passages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

STAGE: Final = "ircot"
INSTRUCTIONS: Final = (
    "You reason about a question over SEC filings, one sentence at a time. " + DATA_RULE + " Write only the next "
    "sentence of the reasoning; name company, period and figure in it. When the passages suffice, write: So the answer "
    "is: ..."
)
_DONE = re.compile(r"\banswer is\b", re.I)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z\"“(])")


class InterleavedPassages:
    """The passages in the order in which they were found, each once; the score is 1 / rank."""

    def __init__(self, retriever: PassageRetriever, chat: ChatModel, chosen: IrcotParameters) -> None:
        self._retriever = retriever
        self._chat = chat
        self._chosen = chosen

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        """Raises ModelReplyError if the model writes no sentence."""
        asker = Asker(self._chat, STAGE, journal)
        found: dict[tuple[str, int, int], Passage] = {}

        async def find(text: str) -> None:
            searched = replace(query, question=text)
            more = await self._retriever.passages(searched, documents, self._chosen.step_passages, journal)
            for passage in more:
                found.setdefault(place(passage), passage)

        reasoning: list[str] = []
        await find(query.question)
        while found and len(reasoning) < self._chosen.steps and len(found) < self._chosen.paragraphs:
            sentence = await _next_sentence(query.question, list(found.values()), reasoning, asker)
            reasoning.append(sentence)
            if _DONE.search(sentence):
                break
            await find(sentence)
        ranked = list(found.values())[: min(k, self._chosen.paragraphs)]
        return [replace(passage, score=1.0 / rank) for rank, passage in enumerate(ranked, start=1)]


async def _next_sentence(question: str, passages: Sequence[Passage], reasoning: Sequence[str], asker: Asker) -> str:
    so_far = f"{question}\n\nReasoning so far: {' '.join(reasoning) or '(none)'}\nNext sentence:"
    reply = await asker.reply(conversation(INSTRUCTIONS, so_far, passages))
    # Keep only the first sentence, as the paper does.
    sentence = _SENTENCE_END.split(reply.text.strip(), maxsplit=1)[0]
    if not sentence:
        raise asker.unusable("the model wrote no sentence")
    asker.journal.note(f"{STAGE}: {excerpt(sentence)}")
    return sentence


def build(tools: Toolbox) -> Retrieval:
    chosen = tools.settings.methods.ircot
    found = lexical_passages(tools.reader, titled=tools.titled)
    return tools.flat(InterleavedPassages(found, tools.generator_model(), chosen))

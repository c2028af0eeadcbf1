"""``zero_shot``: the language model answers without retrieval.

The baseline "GPT-4o (Zero-shot)" of HiREC (arXiv 2505.20368, table 2). The paper prints no prompt for it; here it is
that of HiREC's generation (table 20) without the context. The answer has no evidence, so that it is never grounded.
"""

from __future__ import annotations

from collections.abc import Sequence

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.roles import AnsweredPassages
from finray.models.chat import ChatModel
from finray.retrieval.methods.asking import REASONING, Asker
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


class NoPassages:
    """Finds nothing and answers."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        """Raises ModelReplyError if the reply has no conclusion."""
        return AnsweredPassages((), await Asker(self._chat, "zero_shot", journal).answer(REASONING, query.question))


def build(tools: Toolbox) -> Retrieval:
    return tools.flat(NoPassages(tools.generator_model()))

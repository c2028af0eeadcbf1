"""Answers by one prompt with the passages and the question: the generator of arXiv 2602.17981 (appendix A).

The prompt is word for word as published, so there are no fences around the passages. As in ``published_prompts``, texts
of filings and users are filled in without angle brackets.
"""

from __future__ import annotations

from typing import Final

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import Curation
from finray.hirec.published_roles import replied
from finray.models.chat import ChatModel, Message
from finray.models.fences import unfenced

STAGE: Final = "answer"
SYSTEM: Final = (
    "You are a financial analyst assistant. Your task is to provide accurate, concise, and well-supported answers to "
    "questions based on provided financial document segments."
)
PROMPT: Final = "Context: {evidence}\nQuestion: {question}\nAnswer:"


class PlainAnswerer:
    """The reply as it is: no rule refuses, nothing is computed or checked. Raises ModelReplyError if it is empty."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        evidence = "\n\n".join(unfenced(passage.text) for passage in curation.kept)
        prompt = PROMPT.format(evidence=evidence, question=unfenced(query.question))
        messages = [Message("system", SYSTEM), Message("user", prompt)]
        text = (await replied(self._model, messages, STAGE, journal)).strip()
        if not text:
            raise ModelReplyError(f"{STAGE}: the model wrote no answer")
        return Answer(text, "answered", evidence=curation.kept)

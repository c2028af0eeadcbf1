"""Writes nodes by a language model, with the prompts of FinGEAR (appendix M) and of RAPTOR's code.

Both send the text after their instructions; here it is fenced by tags, as data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from finray.core.errors import ModelReplyError
from finray.core.predictions import TokenUsage
from finray.models.chat import ChatModel, Message
from finray.models.conversation import DATA_RULE
from finray.models.fences import code_of, fenced
from finray.retrieval.trees.texts import CHARACTERS_PER_TOKEN, Piece, Written

SUMMARY: Final = (
    "The content provided below is a subset of a 10-K filing. The 10-K report is a comprehensive document outlining "
    "the company's financial performance, including revenue, expenses, and profits. Your task is to generate a "
    "detailed summary using only the provided content, without embellishment. Summarize main topics, key insights "
    "(5–7), and unusual observations (1–2). Use clear paragraphs and Markdown headings."
)
TITLE: Final = "Generate a title for a subsection of a 10-K report based on the provided summary."
QUESTIONS: Final = (
    "Suppose you are a financial analyst. Generate {num_questions} questions based on the provided summary, focusing "
    "on financial aspects and factual details."
)
RAPTOR_SUMMARY: Final = "Write a summary of the following, including as many key details as possible:"
_ONE_A_LINE: Final = " Write one question a line and nothing else."
_ONLY_TITLE: Final = " Reply with the title alone."
_TRIES: Final = 2
_MARKER: Final = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])\s*|^\s*#+\s*|\*\*|^[\"“]|[\"”]\s*$")


class LlmWriter:
    """Writes FinGEAR's nodes in three requests: a summary, a title for it, and ``questions`` that it answers.

    With ``questions`` = 0 it writes a summary alone, as RAPTOR does.
    """

    def __init__(self, chat: ChatModel, summary_tokens: int, prompt_tokens: int, questions: int) -> None:
        self._chat = chat
        self._summary_tokens = summary_tokens
        self._prompt_characters = prompt_tokens * CHARACTERS_PER_TOKEN
        self._questions = questions

    async def write(self, pieces: Sequence[Piece]) -> Written:
        """Raises ModelReplyError if the model twice writes nothing."""
        text = "\n\n".join(piece.text for piece in pieces)[: self._prompt_characters]
        length = f" At most {self._summary_tokens * 3 // 4} words."  # three words are some four tokens
        if not self._questions:
            summary, usage = await self._ask(RAPTOR_SUMMARY + length, text)
            return Written("", summary, usage=usage)
        summary, usage = await self._ask(SUMMARY + length, text)
        title, spent = await self._ask(TITLE + _ONLY_TITLE, summary)
        usage += spent
        asked, spent = await self._ask(QUESTIONS.format(num_questions=self._questions) + _ONE_A_LINE, summary)
        questions = tuple(filter(None, map(_plain, asked.splitlines())))[: self._questions]
        return Written(_plain(title.splitlines()[0]), summary, questions, usage + spent)

    async def _ask(self, instructions: str, text: str) -> tuple[str, TokenUsage]:
        messages = [
            Message("system", f"{instructions}\n\n{DATA_RULE}"),
            Message("user", fenced("passage", code_of([text]), text)),
        ]
        usage = TokenUsage()
        for _ in range(_TRIES):
            reply = await self._chat.chat(messages)
            usage += reply.usage
            if written := reply.text.strip():
                return written, usage
        raise ModelReplyError(f"trees: the model wrote nothing, twice, when asked: {instructions[:80]!r}…")


def _plain(line: str) -> str:
    """A line of a list, or a title, without Markdown and quotes."""
    return _MARKER.sub("", line).strip(' *"“”')

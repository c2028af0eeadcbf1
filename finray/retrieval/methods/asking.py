"""Requests that several methods send to a language model, and the answers that it writes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.question_fields import excerpt, single_spaced
from finray.core.readable import readable
from finray.models.chat import ChatModel, ChatReply, Message
from finray.models.conversation import DATA_RULE, conversation

_STEPS = (
    "You need to first think through the problem step by step, documenting each necessary step. Then, you are required "
    "to conclude your response with the final answer in your last sentence as "
    '"Therefore, the answer is {final answer}".'
)
REASONING: Final = f"You are a financial expert, and you are supposed to answer the given question. {_STEPS}"
"""The chain of thought of HiREC's table 20, without its context."""
OVER_PASSAGES: Final = (
    "You are a financial expert, and you are supposed to answer the given question based on the provided financial "
    f"document context. {_STEPS} {DATA_RULE} Cite the passages that you use by their ids, as [1]. If they do not hold "
    'the answer, conclude: "Therefore, the answer is not available."'
)
"""The same with its context; the rules about data, citations and refusals are added."""
MAX_QUERY_CHARACTERS: Final = 2_000
_TRACED_CHARACTERS = 1_000
_CONCLUSION = re.compile(r"\banswer\s+(?:is|was|would be)\b[ \t]*:?(?!\s*$)", re.I)
_CITED = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]")
_UNAVAILABLE = re.compile(
    r"(?:not (?:available|given|provided|stated|found|disclosed)|unavailable|unknown|"
    r"cannot be (?:determined|answered))\b",
    re.I,
)
_LABEL = re.compile(r"(?:[-*•]|\d{1,2}[.)]|(?:(?:rewritten|new|sub|search|decomposed|disambiguated)[- ]?)?"
                    r"(?:query|question)(?: \d{1,2})?:)\s+", re.I)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks ``chat`` about one question; ``journal`` counts tokens, calls and unusable replies under ``stage``."""

    chat: ChatModel
    stage: str
    journal: Journal

    async def reply(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> ChatReply:
        reply = await self.chat.chat(messages, schema=schema)
        self.journal.spend(self.stage, reply.usage)
        return reply

    def unusable(self, problem: str) -> ModelReplyError:
        """Counts an unusable reply; returns the error to raise if the method needs it."""
        self.journal.unusable_reply(self.stage, problem)
        return ModelReplyError(f"{self.stage}: {problem}")

    async def query(self, messages: Sequence[Message]) -> str:
        """The search query that the model writes: the first line of its reply. Raises ModelReplyError."""
        text = readable((await self.reply(messages)).text)
        lines = [single_spaced(line.replace("**", "")) for line in text.splitlines()]
        query = next((bare for line in lines if (bare := _LABEL.sub("", line, count=1).strip("\"'`“”* "))), "")
        if not query or len(query) > MAX_QUERY_CHARACTERS:
            raise self.unusable(f"asked for one query, got {excerpt(text, 120)!r}")
        return query

    async def answer(
        self, instructions: str, question: str, passages: Sequence[Passage] = (), *, context: str = ""
    ) -> Answer:
        """The answer that the model concludes with; its evidence is the passages that it cites.

        ``context`` is shown besides the passages. Raises ModelReplyError if the reply has no conclusion.
        """
        reply = await self.reply(conversation(instructions, question, passages, context))
        text = readable(reply.text)
        self.journal.note(f"{self.stage}: {excerpt(single_spaced(text), _TRACED_CHARACTERS)}")
        concluded = concluding(text)
        if not concluded:
            cut = ", cut off at llm.max_tokens" if reply.cut else ""
            raise self.unusable(f'no "the answer is" in {excerpt(text[-200:], 120)!r}{cut}')
        evidence = self.cited(text, passages)
        if _UNAVAILABLE.match(concluded):
            return Answer("Not answerable from what was retrieved.", "unanswerable", evidence=evidence)
        return Answer(concluded, "answered", evidence=evidence)

    def cited(self, text: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The passages whose 1-based ids ``text`` cites in brackets, in the order of the citations."""
        numbers = [int(number) for group in _CITED.findall(text) for number in re.findall(r"\d+", group)]
        valid = dict.fromkeys(number for number in numbers if 1 <= number <= len(passages))
        if strange := dict.fromkeys(number for number in numbers if number not in valid):
            self.journal.note(f"{self.stage}: cites {list(strange)[:5]}; there are {len(passages)} passages")
        return tuple(passages[number - 1] for number in valid)


def concluding(text: str) -> str:
    """What follows the last "the answer is" in its paragraph, without citations; "" if nothing does."""
    found = list(_CONCLUSION.finditer(text))
    if not found:
        return ""
    paragraph = re.split(r"\n\s*\n", text[found[-1].end() :].strip(), maxsplit=1)[0]
    rest = single_spaced(_CITED.sub(" ", paragraph)).strip("*\"'“” ")
    return rest.removesuffix(".").strip("*\"'“” ")

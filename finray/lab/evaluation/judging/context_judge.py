"""A language model that judges retrieved passages, after RAGAS (Es et al. 2023, arXiv 2309.15217).

Two requests a question. One without the gold answer: which passages are relevant (precision), and how well they serve
the question as a whole (relevancy, 0 to 2). One with it, if there is any: the statements of the gold answer, and which
of them the passages support (recall).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import TokenUsage
from finray.core.question_fields import excerpt
from finray.core.questions import Question
from finray.hirec.exchange import chosen, converse
from finray.hirec.prompts import IDS, Prompt, schema_of
from finray.lab.evaluation.context import ContextScores
from finray.models.chat import ChatModel, Message
from finray.models.conversation import DATA_RULE
from finray.models.fences import code_of, fenced

PASSAGE_TOKENS: Final = 12_000
"""Tokens of all passages in a prompt, at three characters a token: they fit a context of 16,000 with the reply."""
MAX_STATEMENTS: Final = 100
_SHOWN: Final = 120
_CHARACTERS_PER_TOKEN = 3
_GIVEN = "You judge what a search over SEC filings found for a question. You are given the question"
RELEVANCE: Final = Prompt(
    "context_judge",
    f"{_GIVEN} and numbered passages, each between tags of its name. {DATA_RULE}\n"
    "`relevant`: the ids of the passages that help to answer the question, none if no passage does.\n"
    "`relevancy`: 2 if the passages together suffice to answer the question, 1 if they help in part, 0 if they do not.",
    schema_of(relevant=IDS, relevancy={"type": "integer"}),
)
SUPPORT: Final = Prompt(
    "context_judge",
    f"{_GIVEN}, a reference answer that is right, and numbered passages, each between tags of its name. {DATA_RULE}\n"
    "`statements`: the reference answer as separate statements of fact, at least one, each a sentence that can be "
    "checked by itself.\n"
    "`supported`: the numbers of those statements, from 1, that can be inferred from the passages, by reading or by "
    "calculation; none if no statement can.",
    schema_of(statements={"type": "array", "items": {"type": "string"}}, supported=IDS),
)
_BEST = 2


async def judge_context(
    model: ChatModel, question: Question, passages: Sequence[Passage]
) -> tuple[ContextScores | None, TokenUsage]:
    """The model's scores of ``passages``; None if a second reply is unusable too. Recall is None without a gold
    answer. Raises ModelUnavailableError."""
    if not passages:
        return ContextScores(0.0, 0.0 if question.answer else None, 0.0), TokenUsage()
    journal = Journal()
    texts = cut_evenly([passage.text for passage in passages], PASSAGE_TOKENS * _CHARACTERS_PER_TOKEN)

    async def read_relevance(reply: Mapping[str, Any]) -> tuple[float, float]:
        relevant = chosen(reply, "relevant", texts, RELEVANCE.stage, journal)
        rating: Any = reply.get("relevancy")
        if isinstance(rating, bool) or rating not in range(_BEST + 1):
            raise ModelReplyError(f"{RELEVANCE.stage}: 'relevancy' is {rating!r}, not 0, 1 or {_BEST}")
        return len(relevant) / len(passages), rating / _BEST

    async def read_support(reply: Mapping[str, Any]) -> float:
        statements = reply.get("statements")
        if not isinstance(statements, list) or not 0 < len(statements) <= MAX_STATEMENTS:
            shown = excerpt(repr(statements), _SHOWN)
            raise ModelReplyError(f"{SUPPORT.stage}: 'statements' is {shown}, not a list of 1 to {MAX_STATEMENTS}")
        return len(chosen(reply, "supported", statements, SUPPORT.stage, journal)) / len(statements)

    try:
        asked = conversation(RELEVANCE, question.question, texts)
        precision, relevancy = await converse(model, RELEVANCE, asked, read_relevance, journal)
        recall = None
        if question.answer:
            asked = conversation(SUPPORT, question.question, texts, question.answer)
            recall = await converse(model, SUPPORT, asked, read_support, journal)
    except ModelReplyError:
        return None, journal.usage.get(RELEVANCE.stage, TokenUsage())
    return ContextScores(precision, recall, relevancy), journal.usage.get(RELEVANCE.stage, TokenUsage())


def conversation(prompt: Prompt, question: str, texts: Sequence[str], reference: str | None = None) -> list[Message]:
    code = code_of([question, reference or "", *texts])
    parts = [fenced("passage", code, text, {"id": str(number)}) for number, text in enumerate(texts, start=1)]
    parts += [fenced("reference", code, reference)] if reference else []
    parts.append(fenced("question", code, question))
    return [Message("system", prompt.instructions), Message("user", "\n\n".join(parts))]


def cut_evenly(texts: Sequence[str], characters: int) -> list[str]:
    """``texts``, the longest cut so that all have at most ``characters``; what short ones leave goes to longer ones."""
    share, room = characters, characters
    for left, length in zip(range(len(texts), 0, -1), sorted(map(len, texts)), strict=True):
        share = room // left
        if length > share:
            break
        room -= length
    return [text[:share] for text in texts]

"""The judge of HiREC's textual answers: FAMMA's prompt with the gold context (arXiv 2505.20368, table 15), word for
word, asked of the generator.

The published prompt has no fences around texts, so an answer that asks for a grade may get it. Use ``llm_judge`` for
answers of strangers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from finray.core.questions import GoldEvidence, Question
from finray.core.settings import LlmSettings
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation.judging.judgement import Judgement, Submission, Verdict, model_judgement
from finray.models.chat import ChatModel, Message
from finray.models.fences import unfenced

PROMPT: Final = """\
You are a highly knowledgeable expert and teacher in the finance domain.
You are reviewing a student’s answers to financial questions.
You are given the context, the question, the student’s answer and the student’s explanation and the ground-truth answer.
Please use the given information and refer to the ground-truth answer to determine if the student’s answer is correct.
The input information is as follows:
context: ’{gold context}’
question: ’{question}’
ground-truth answer: ’{answer}’
student’s answer: ’{generated answer}’
Please respond directly as either ’correct’ or ’incorrect’."""
MAX_CHARACTERS: Final = 8_000
"""Characters of an answer, and of each gold text, in the prompt."""
_PLACE = re.compile(r"\{([a-z ]+)\}")
_VERDICT = re.compile(r"\b(not )?(in)?correct\b", re.I)


class FammaJudge:
    """``contexts`` has the gold context of each qid. A reply with neither or both of the words is not a verdict."""

    def __init__(self, model: ChatModel, settings: LlmSettings, contexts: Mapping[str, str]) -> None:
        self._model = model
        self._contexts = contexts
        chosen = settings.model_dump(include={"model", "temperature", "max_tokens"})
        content = json.dumps([chosen, PROMPT], sort_keys=True)
        self.name, self.hash = f"FAMMA judge {settings.model}", hashlib.sha256(content.encode()).hexdigest()[:12]

    async def judge(self, submission: Submission) -> Judgement:
        """Raises ModelUnavailableError if the server cannot be reached."""
        reply = await self._model.chat(famma_prompt(submission, self._contexts.get(submission.qid, "")))
        return model_judgement(self, submission, _verdict(reply.text), reply.text, reply.usage)


def _verdict(reply: str) -> Verdict | None:
    said = {bool(denied) == bool(wrong) for denied, wrong in _VERDICT.findall(reply)}
    return ("correct" if said.pop() else "incorrect") if len(said) == 1 else None


def famma_prompt(submission: Submission, context: str) -> list[Message]:
    """Table 15, filled in one pass, so that no text can name another place."""
    values = {
        "gold context": context,
        "question": submission.question,
        "answer": submission.reference,
        "generated answer": submission.answer[:MAX_CHARACTERS],
    }
    return [Message("user", _PLACE.sub(lambda match: unfenced(values[match[1]]), PROMPT))]


def gold_contexts(questions: Iterable[Question], reader: IndexReader) -> dict[str, str]:
    """The gold texts of each question by qid; evidence without a text has that of its page, if the index has it."""
    asked = list(questions)
    ids = {filing.doc_name: filing.filing_id for filing in reader.filings()}
    untexted = [gold for question in asked for gold in question.evidence if not gold.text and gold.doc_name in ids]
    pages = reader.page_texts({(ids[gold.doc_name], gold.page) for gold in untexted if gold.page is not None})

    def text_of(gold: GoldEvidence) -> str:
        page = -1 if gold.page is None else gold.page
        return gold.text or pages.get((ids.get(gold.doc_name, ""), page), "")

    return {q.qid: "\n\n".join(text_of(gold)[:MAX_CHARACTERS] for gold in q.evidence).strip() for q in asked}

"""Query transformation and evidence curation as HiREC published them (arXiv 2505.20368, sections 4.1.1 and 4.2).

One request each, in the paper's words and with plain text as reply. No rule decides in the model's place: an unusable
reply is counted (``Prediction.unusable``), and the stage then does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.query import Query
from finray.core.question_fields import excerpt, single_spaced
from finray.core.roles import FIRST, Curation, Turn
from finray.hirec.exchange import chosen, flag_of, question_of, text_of
from finray.hirec.prompts import IDS, TEXT, schema_of
from finray.hirec.published_prompts import Titled, curation_prompt, transform_prompt
from finray.models.chat import ChatModel, Message
from finray.models.structured import read_structured
from finray.question.rule_reader import PlainReader, with_text

TRANSFORM: Final = "transform"
CURATE: Final = "curate"
_QUERY = schema_of(query=TEXT)
_CURATED = schema_of(
    is_answerable={"type": "boolean"}, missing_information=TEXT, answer=TEXT, answerable_doc_ids=IDS, refined_query=TEXT
)
"""Table 18's output format."""
_NOTHING = frozenset({"none", "n/a", "null"})
_TRACED_CHARACTERS = 300


class PublishedReader:
    """HiREC's query transformation: the model's query is searched for among documents, the question among passages.

    If the reply is unusable, the question itself is the query.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._plain = PlainReader()

    async def read(self, question: str, journal: Journal) -> Query:
        query = await self._plain.read(question, journal)
        text = await replied(self._model, transform_prompt(question), TRANSFORM, journal)
        try:
            rewritten = _rewritten(text)
        except ModelReplyError as error:
            journal.unusable_reply(TRANSFORM, str(error))
            return query
        journal.note(f"transform: {excerpt(rewritten, _TRACED_CHARACTERS)!r}")
        return with_text(query, rewritten)


def _rewritten(reply: str) -> str:
    """What follows "## Query:", or a reply of one line: table 17 asks for both. Raises ModelReplyError."""
    found = read_structured(reply, _QUERY)
    if found is None and "\n" not in reply.strip():
        found = {"query": reply.strip()}
    if text := question_of(found or {}, "query", TRANSFORM):
        return text
    raise ModelReplyError(f"transform: asked for one query, got {excerpt(reply, 120)!r}")


class PublishedCurator:
    """HiREC's evidence curation: one reply filters, judges and asks the complementary question.

    ``titles`` has the title of each filing id. If the reply is unusable, everything retrieved is kept and nothing is
    asked, so that the loop ends.
    """

    def __init__(self, model: ChatModel, titles: Mapping[str, str]) -> None:
        self._model = model
        self._titles = titles

    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal, turn: Turn = FIRST) -> Curation:
        prompt = curation_prompt(query.question, titled(passages, self._titles))
        text = await replied(self._model, prompt, CURATE, journal)
        try:
            return _curation(text, passages, journal)
        except ModelReplyError as error:
            journal.unusable_reply(CURATE, str(error))
            return Curation(tuple(passages), answerable=False, filtered=False)


def _curation(text: str, passages: Sequence[Passage], journal: Journal) -> Curation:
    """Raises ModelReplyError for a reply that is not in the form of table 18, or that contradicts itself: answerable
    from no document, or unanswerable without a refined query."""
    reply: Mapping[str, Any] | None = read_structured(text, _CURATED)
    if reply is None:
        raise ModelReplyError(f"curate: asked for {', '.join(_CURATED['required'])}, got {excerpt(text, 120)!r}")
    kept = chosen(reply, "answerable_doc_ids", passages, CURATE, journal)
    if flag_of(reply, "is_answerable", CURATE):
        if not kept:
            raise ModelReplyError("curate: answerable, but from none of the documents")
        return Curation(kept, answerable=True)
    refined = _given(question_of(reply, "refined_query", CURATE))
    if not refined:
        raise ModelReplyError("curate: unanswerable, but without a refined query")
    missing = _given(single_spaced(text_of(reply, "missing_information", CURATE)))
    return Curation(kept, False, (missing,) if missing else (), complementary=refined)


def _given(text: str) -> str:
    """``text``, "" for "None"."""
    return "" if text.lower().strip(".") in _NOTHING else text


async def replied(model: ChatModel, prompt: Sequence[Message], stage: str, journal: Journal) -> str:
    """The text of the reply, whose tokens are counted under ``stage``."""
    reply = await model.chat(prompt)
    journal.spend(stage, reply.usage)
    return reply.text


def titled(passages: Sequence[Passage], titles: Mapping[str, str]) -> list[Titled]:
    """``passages`` as the published prompts show them."""
    return [Titled(titles[passage.filing_id], passage.text) for passage in passages]

"""Cover summaries by a language model, which HiREC's document retrieval searches (arXiv 2505.20368, section 4.1.1).

Each filing's cover is its first page with text. The prompt is table 16 of appendix D, word for word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from finray.core.settings import LlmSettings, Settings
from finray.index.extensions.extension import Cost, FilingExtension, OfFiling
from finray.index.extensions.made_with import encoder_record, llm_record
from finray.index.reading.reader import IndexReader
from finray.index.schema import vectors_array
from finray.models.chat import ChatReply, Message
from finray.models.encoder_loading import load_encoder
from finray.models.fences import unfenced
from finray.models.load_chat import disconnect, load_chat
from finray.retrieval.stopwatch import Stopwatch

SUMMARIZE: Final = "You are a helpful assistant. Summarize the following text:"
_COVER_PAGES: Final = 5
"""The cover is searched for on this many first pages; blank ones may come before it."""


def summary_prompt(cover: str) -> list[Message]:
    """Table 16."""
    return [Message("user", f"{SUMMARIZE}\n{unfenced(cover)}")]


def cover_summaries(settings: Settings) -> FilingExtension:
    """The ``summary`` of each filing, null if the reply was empty, and its ``vector`` from the encoder of the index."""
    characters = settings.methods.hirec.cover_characters

    def load(reader: IndexReader) -> OfFiling:
        encoder = load_encoder(settings.encoder)

        def summarized(filing_id: str) -> tuple[Mapping[str, pa.Array], Cost]:
            stopwatch = Stopwatch()
            reply = asyncio.run(_reply(settings.llm, _cover(reader, filing_id)[:characters]))
            summary = reply.text.strip()
            columns = {
                "summary": pa.array([summary or None], pa.string()),
                "vector": vectors_array(encoder.encode_passages([summary]), encoder.dimension),
            }
            return columns, stopwatch.cost(reply.usage, unusable=int(not summary))

        return summarized

    made_with = {**llm_record(settings.llm), "cover_characters": characters, **encoder_record(settings.encoder)}
    return FilingExtension("hirec", made_with, load, things="cover summaries")


def _cover(reader: IndexReader, filing_id: str) -> str:
    """The first page with text; "" if there is none."""
    texts = reader.page_texts([(filing_id, page) for page in range(_COVER_PAGES)])
    return next((text for _, text in sorted(texts.items()) if text.strip()), "").strip()


async def _reply(settings: LlmSettings, cover: str) -> ChatReply:
    """Raises ModelUnavailableError, ModelReplyError."""
    model = load_chat(settings)
    try:
        return await model.chat(summary_prompt(cover))
    finally:
        await disconnect(model)

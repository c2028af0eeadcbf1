"""``+title``: company, form and period stand before each chunk, for words and for vectors.

A flat method then knows which filing a chunk is from, as a method that finds filings first does: the fair opponent of
routing. The prefixed chunks are stored beside the index (``finray extend --with dense+title``): their vectors in
``title_vectors``, their words with a full-text index in ``title_words``. Passages keep the text of the filing.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from finray.core.settings import Settings
from finray.filings.cover.summary import filing_title
from finray.index.extensions.extension import Encode, Extension
from finray.index.extensions.made_with import encoder_record
from finray.index.schema import vectors_array
from finray.models.encoder_loading import load_encoder

TITLE: Final = "company, form, period"
"""Changes with the wording of titles, so that chunks with different ones are not mixed."""


def title_vectors(settings: Settings) -> Extension:
    """A vector of every chunk with its title, from the encoder of the index."""
    chosen = settings.encoder

    def load() -> Encode:
        model = load_encoder(chosen)
        return lambda texts: {"vector": vectors_array(model.encode_passages(texts), model.dimension)}

    record = {**encoder_record(chosen), "title": TITLE}
    return Extension("title_vectors", "chunks", record, load, method="dense+title", prefix=filing_title)


def title_words() -> Extension:
    """Every chunk's text with its title, and a full-text index."""

    def load() -> Encode:
        return lambda texts: {"text": pa.array(texts, pa.string())}

    record = {"title": TITLE}
    return Extension("title_words", "chunks", record, load, method="bm25+title", prefix=filing_title, words=True)

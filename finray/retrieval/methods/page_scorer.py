"""``page_scorer``: the best P = 20 pages by a bi-encoder over whole pages, then the chunks inside them.

Kobeissi and Langlais, "Decomposing Retrieval Failures in RAG for Long-Document Financial Question Answering" (arXiv
2602.17981), fine-tune the bi-encoder on pages of filings; jobs/train_page_scorer.py does that here. The index's own
encoder ranks the chunks of the chosen pages.

``page_encoder.model`` names the scorer; ``finray extend --with page_scorer`` stores its vectors of whole pages. If it
is empty, the index's own page vectors serve. Each of those is the normalized mean of the page's chunk vectors
(finray/index/writing/bundle.py), so no text is cut off at the encoder's limit, but the encoder was not trained on
pages. docs/systems/page-scorer.md compares this with the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from finray.core.errors import SettingsError
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.settings import Settings
from finray.filings.cover.summary import filing_title
from finray.index.extensions.extension import Encode, Extension
from finray.index.extensions.made_with import encoder_record
from finray.index.extensions.table import ExtensionTable, open_extension
from finray.index.schema import vectors_array, vectors_matrix
from finray.index.writing.bundle import page_vectors
from finray.models.encoder import Encoder, QueryCache, Vectors
from finray.models.encoder_loading import load_encoder
from finray.retrieval.flat import FoundPassages, Scope, doc_names
from finray.retrieval.methods.titles import TITLE, title_vectors
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import search_vector

NAME: Final = "page_scorer"
SearchPages = Callable[[Vectors, Scope, int], pa.Table]
"""(vector, filings, limit) to filing_id, page and score, best first."""


def normalized_page(text: str, characters: int) -> str:
    """The text that represents a page: white space collapsed, cut to ``characters`` (section 4.7 of the paper); the
    text itself if ``characters`` is 0."""
    return " ".join(text.split())[:characters] if characters else text


def extension(settings: Settings) -> Extension:
    """A vector of every page's text, from ``page_encoder``. Raises SettingsError if that names no model."""
    return _page_extension(settings, titled=False)


def title_extensions(settings: Settings) -> tuple[Extension, ...]:
    """With titles: those of the chunks, and of the pages if ``page_encoder`` names a model."""
    pages = (_page_extension(settings, titled=True),) if settings.page_encoder.model else ()
    return (title_vectors(settings), *pages)


def _page_extension(settings: Settings, *, titled: bool) -> Extension:
    chosen = settings.page_encoder
    if not chosen.model:
        raise SettingsError(
            "page_encoder.model is empty: page_scorer then uses the index's own page vectors and needs no others; "
            "name a model to store its vectors"
        )

    def load() -> Encode:
        model = load_encoder(chosen)

        def encode(texts: Sequence[str]) -> Mapping[str, pa.Array]:
            shown = [normalized_page(text, chosen.page_characters) for text in texts]
            return {"vector": vectors_array(model.encode_passages(shown), model.dimension)}

        return encode

    made_with = encoder_record(chosen)
    if chosen.page_characters:
        made_with["page_characters"] = chosen.page_characters
    name = "-".join(filter(None, (NAME, chosen.store)))
    if not titled:
        return Extension(name, "pages", made_with, load, method=NAME)
    record = {**made_with, "title": TITLE}
    return Extension(f"{name}_titles", "pages", record, load, method=f"{NAME}+title", prefix=filing_title)


def build(tools: Toolbox) -> Retrieval:
    reader, encoder, pages = tools.reader, tools.encoder, tools.settings.methods.page_scorer.pages
    titles = open_extension(reader, title_vectors(tools.settings)) if tools.titled else None
    search, scorer = _page_search(tools, titles)
    names = doc_names(reader)

    async def find(query: Query, within: Scope, k: int, journal: Journal) -> pa.Table:
        """Chunks of the best pages by their own cosine."""
        hits = search(await search_vector(query, scorer), within, pages)
        best = list(zip(hits["filing_id"].to_pylist(), hits["page"].to_pylist(), strict=True))
        journal.note("pages: " + ", ".join(f"{names[i]} p. {page + 1}" for i, page in best[:5]))
        chunks = reader.chunks_of_pages(best)
        vectors = chunks["vector"]
        if titles and best:
            titled = titles.rows_of_pages(best, ["vector"])
            # A filing may have none (finray.index.extensions.set_aside). Both are ordered by place.
            chunks = chunks.filter(pc.is_in(chunks["filing_id"], pc.unique(titled["filing_id"])))
            vectors = titled["vector"]
        scores = vectors_matrix(vectors) @ await search_vector(query, encoder)
        order = np.argsort(-scores, kind="stable")[:k]
        return chunks.drop_columns(["vector"]).take(pa.array(order)).append_column("score", pa.array(scores[order]))

    return tools.flat(FoundPassages(reader, find))


def _page_search(tools: Toolbox, titles: ExtensionTable | None) -> tuple[SearchPages, Encoder]:
    """The search over page vectors, and the encoder of its queries."""
    settings = tools.settings
    if settings.page_encoder.model:
        stored = open_extension(tools.reader, _page_extension(settings, titled=tools.titled))
        return stored.search_vector, QueryCache(load_encoder(settings.page_encoder, threads=1))
    if titles is not None:
        return _mean_of_chunks(titles), tools.encoder
    return tools.reader.search_pages_vector, tools.encoder


def _mean_of_chunks(titles: ExtensionTable) -> SearchPages:
    """Searches the normalized means of the titled chunks of each page, which it keeps in memory."""
    rows = titles.rows(["vector"])
    places = list(zip(rows["filing_id"].to_pylist(), rows["page"].to_pylist(), strict=True))
    pages = list(dict.fromkeys(places))
    number = {place: at for at, place in enumerate(pages)}
    chunks = vectors_matrix(rows["vector"]) if pages else np.zeros((0, 1), np.float32)
    of_chunks = np.asarray([number[place] for place in places], dtype=np.int64)
    vectors = page_vectors(np.arange(len(pages)), of_chunks, chunks, chunks.shape[1])
    filing_ids = np.asarray([filing_id for filing_id, _ in pages], dtype=object)

    def search(vector: Vectors, within: Scope, limit: int) -> pa.Table:
        scores = vectors @ vector if pages else np.zeros(0, np.float32)
        allowed = np.arange(len(pages)) if within is None else np.flatnonzero(np.isin(filing_ids, list(within)))
        best = allowed[np.argsort(-scores[allowed], kind="stable")[:limit]]
        return pa.table(
            {
                "filing_id": pa.array([pages[at][0] for at in best], pa.string()),
                "page": pa.array([pages[at][1] for at in best], pa.int32()),
                "score": scores[best],
            }
        )

    return search

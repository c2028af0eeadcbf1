"""Builds the trees of a filing from the index: ``finray extend --with fingear`` and ``--with raptor``."""

from __future__ import annotations

import asyncio
import hashlib
import weakref
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from finray.core.errors import ModelReplyError
from finray.core.filing import LineItem
from finray.core.method_settings import FingearParameters, RaptorParameters, TreeParameters
from finray.core.predictions import TokenUsage
from finray.core.settings import Settings
from finray.core.settings.hashes import without_default_revisions
from finray.index.extensions.extension import Cost, FilingExtension, OfFiling
from finray.index.extensions.made_with import llm_record
from finray.index.reading.reader import IndexReader
from finray.index.schema import vectors_matrix
from finray.models.chat import ChatModel
from finray.models.encoder import Encoder, Vectors
from finray.models.encoder_loading import load_encoder
from finray.models.load_chat import disconnect, load_chat
from finray.retrieval.flam import Lexicon, PhraseMatcher, count_terms, lexicon_terms
from finray.retrieval.stopwatch import Stopwatch
from finray.retrieval.trees.clustering import Members, soft_clusters, two_level_clusters
from finray.retrieval.trees.grow import grow
from finray.retrieval.trees.store import FilingTrees, ItemTree, Place, tree_columns
from finray.retrieval.trees.texts import (
    CHARACTERS_PER_TOKEN,
    NodeWriter,
    Piece,
    RuleWriter,
    piece_lines,
    term_rarity,
)
from finray.retrieval.trees.written import LlmWriter

OUTSIDE = ""
"""The Item of pages outside of Items."""
LEXICON = "lexicon.arrow"
"""The terms of the extension ``fingear``, with their vectors and clusters."""
_NOT_BUILT = {"lexicon", "beam", "flam", "weighting", "summary_tree", "question_tree", "rerank"}
"""Settings of ``fingear`` that do not change a tree. The lexicon is recorded by its terms instead."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """The leaves of a filing in reading order; ``vectors`` is float32 [n, d]."""

    places: tuple[Place, ...]
    items: tuple[str, ...]
    pieces: tuple[Piece, ...]
    vectors: Vectors


def fingear_extension(settings: Settings) -> FilingExtension:
    """A Summary Tree and a Question Tree for each Item of each filing, and the counts of the lexicon's terms."""
    chosen = settings.methods.fingear
    terms = lexicon_terms(chosen.lexicon)

    def load(reader: IndexReader) -> OfFiling:
        encoder, chat, matcher = _encoder(settings), _chat(settings, chosen), PhraseMatcher(terms)
        loop = _Loop(chat)

        def build(filing_id: str) -> tuple[dict[str, pa.Array], Cost]:
            stopwatch = Stopwatch()
            leaves = filing_leaves(reader, filing_id, chosen)
            trees, usage = loop.run(fingear_trees(leaves, chosen, encoder, chat))
            counts = term_counts(leaves, matcher)
            columns = tree_columns(trees, encoder.dimension) | counts
            return columns, stopwatch.cost(usage, len(trees.nodes))

        return _named(build)

    def lexicon() -> bytes:
        return Lexicon.of(terms, _encoder(settings), chosen).to_bytes()

    content = hashlib.sha256("\n".join(terms).encode()).hexdigest()[:12]
    prefix = settings.encoder.query_prefix  # the stored questions are encoded as a user's
    asked = {"query_prefix": prefix} if prefix else {}
    made_with = {**_made_with(settings, chosen, _NOT_BUILT), "terms": content, **asked}
    return FilingExtension("fingear", made_with, load, {LEXICON: lexicon})


def raptor_extension(settings: Settings) -> FilingExtension:
    """A tree of summaries over the chunks of each filing."""
    chosen = settings.methods.raptor

    def load(reader: IndexReader) -> OfFiling:
        encoder, chat = _encoder(settings), _chat(settings, chosen)
        loop = _Loop(chat)

        def build(filing_id: str) -> tuple[dict[str, pa.Array], Cost]:
            stopwatch = Stopwatch()
            leaves = filing_leaves(reader, filing_id, chosen)
            tree, usage = loop.run(raptor_tree(leaves, chosen, encoder, chat))
            return tree_columns(tree, encoder.dimension), stopwatch.cost(usage, len(tree.nodes))

        return _named(build)

    return FilingExtension("raptor", _made_with(settings, chosen, set()), load)


def filing_leaves(reader: IndexReader, filing_id: str, chosen: TreeParameters) -> Leaves:
    """The pages or chunks of a filing that have text, with their vectors from the index."""
    pages = reader.pages([filing_id], ["page", "text", "item", "headings", "vector"])
    items, headings = (
        dict(zip(pages["page"].to_pylist(), pages[name].to_pylist(), strict=True)) for name in ("item", "headings")
    )
    lines: defaultdict[int, list[LineItem]] = defaultdict(list)
    for line in reader.line_items([filing_id]).get(filing_id, ()):
        lines[line.page].append(line)
    whole = chosen.leaves == "pages"
    table = pages if whole else reader.chunks([filing_id], ["page", "start", "text", "vector"])
    starts = [0] * len(table) if whole else table["start"].to_pylist()
    rows = zip(table["page"].to_pylist(), starts, table["text"].to_pylist(), strict=True)
    kept = {at: row for at, row in enumerate(rows) if row[2].strip()}
    return Leaves(
        places=tuple((page, start) for page, start, _ in kept.values()),
        items=tuple(items[page] or OUTSIDE for page, _, _ in kept.values()),
        pieces=tuple(_piece(text, headings[page], lines[page], whole) for page, _, text in kept.values()),
        vectors=vectors_matrix(table["vector"])[list(kept)],
    )


def _piece(text: str, headings: str, lines: Sequence[LineItem], whole: bool) -> Piece:
    """A whole page, or a chunk with the headings and line items of its page that it prints."""
    piece = Piece(text, tuple(filter(None, headings.split("\n"))), piece_lines(lines))
    if whole:
        return piece
    printed = " ".join(text.split())
    return Piece(
        text,
        tuple(heading for heading in piece.headings if heading in printed),
        tuple((label, year) for label, year in piece.lines if label in printed),
    )


async def fingear_trees(
    leaves: Leaves, chosen: FingearParameters, encoder: Encoder, chat: ChatModel | None
) -> tuple[FilingTrees, TokenUsage]:
    """One tree for each Item (section 3.1.1). An Item with few leaves has no nodes: its leaves hang from the root."""
    writer = _writer(leaves, chosen, chosen.questions, chat)
    members = {item: [at for at, other in enumerate(leaves.items) if other == item] for item in leaves.items}
    growing = (
        grow(
            [leaves.pieces[at] for at in some],
            leaves.vectors[some],
            chosen.depth - 1,
            chosen.dimension + 1,
            lambda vectors, _: soft_clusters(vectors, chosen),
            writer,
            encoder,
        )
        for some in members.values()
    )
    grown = await asyncio.gather(*growing)  # a language model writes the nodes of all Items at once
    usage = sum((spent for _, spent in grown), TokenUsage())
    trees = (
        ItemTree(item, tuple(some), tuple(nodes))
        for (item, some), (nodes, _) in zip(members.items(), grown, strict=True)
    )
    return FilingTrees(leaves.places, tuple(trees)), usage


async def raptor_tree(
    leaves: Leaves, chosen: RaptorParameters, encoder: Encoder, chat: ChatModel | None
) -> tuple[FilingTrees, TokenUsage]:
    """One tree over all leaves, of at most ``layers`` layers of summaries."""
    writer = _writer(leaves, chosen, 0, chat)

    def clusters(vectors: Vectors, pieces: Sequence[Piece]) -> list[Members]:
        lengths = np.asarray([len(piece.text) for piece in pieces])
        return _short_clusters(vectors, lengths, np.arange(len(pieces)), chosen)

    smallest = chosen.dimension + 1
    nodes, usage = await grow(leaves.pieces, leaves.vectors, chosen.layers, smallest, clusters, writer, encoder)
    every = tuple(range(len(leaves.places)))
    return FilingTrees(leaves.places, (ItemTree(OUTSIDE, every, tuple(nodes)),)), usage


def _short_clusters(vectors: Vectors, lengths: np.ndarray, members: Members, chosen: RaptorParameters) -> list[Members]:
    """Clusters ``members``; a cluster with too much text is clustered again, unless it is all of ``members``."""
    found: list[Members] = []
    for inner in two_level_clusters(vectors[members], chosen):
        cluster = members[inner]
        too_long = lengths[cluster].sum() > chosen.cluster_tokens * CHARACTERS_PER_TOKEN
        if too_long and 1 < len(cluster) < len(members):
            found += _short_clusters(vectors, lengths, cluster, chosen)
        else:
            found.append(cluster)
    return found


def term_counts(leaves: Leaves, matcher: PhraseMatcher) -> dict[str, pa.Array]:
    """Counts of the lexicon's terms in each Item: one row of parallel lists."""
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for item, piece in zip(leaves.items, leaves.pieces, strict=True):
        texts[item].append(piece.text)
    rows = [(item, *pair) for item, counts in count_terms(matcher, texts).items() for pair in sorted(counts.items())]
    return {
        "term_items": pa.array([[item for item, _, _ in rows]], pa.list_(pa.string())),
        "terms": pa.array([[term for _, term, _ in rows]], pa.list_(pa.int32())),
        "term_counts": pa.array([[count for _, _, count in rows]], pa.list_(pa.int32())),
    }


def _writer(leaves: Leaves, chosen: TreeParameters, questions: int, chat: ChatModel | None) -> NodeWriter:
    if chat is not None:
        return LlmWriter(chat, chosen.summary_tokens, chosen.prompt_tokens, questions)
    return RuleWriter(term_rarity(piece.text for piece in leaves.pieces), chosen.summary_tokens, questions)


def _encoder(settings: Settings) -> Encoder:
    return load_encoder(settings.encoder, threads=1)


def _chat(settings: Settings, chosen: TreeParameters) -> ChatModel | None:
    return load_chat(settings.llm) if chosen.writer == "llm" else None


def _made_with(settings: Settings, chosen: TreeParameters, apart: set[str]) -> dict[str, str | int]:
    """Everything that changes a tree, as text: JSON keeps that exactly."""
    parameters = {name: str(value) for name, value in chosen.model_dump(exclude=apart).items()}
    llm = llm_record(settings.llm) if chosen.writer == "llm" else {}
    encoder = {"encoder": settings.encoder.model, "revision": settings.encoder.revision}
    return {**without_default_revisions(encoder), **llm, **parameters}


class _Loop:
    """One event loop for all filings: the connections of a chat model belong to the loop that opened them. Loop and
    connections are closed when the worker is dropped."""

    def __init__(self, chat: ChatModel | None) -> None:
        runner = asyncio.Runner()
        self.run = runner.run
        weakref.finalize(self, _end, runner, chat)


def _end(runner: asyncio.Runner, chat: ChatModel | None) -> None:
    with runner:
        if chat is not None:
            runner.run(disconnect(chat))


def _named(build: OfFiling) -> OfFiling:
    """``build``, with the filing named in its errors."""

    def named(filing_id: str) -> tuple[Mapping[str, pa.Array], Cost]:
        try:
            return build(filing_id)
        except ModelReplyError as error:
            raise ModelReplyError(f"filing {filing_id}: {error}") from error

    return named

"""``lightrag``: pages by way of a knowledge graph of entities and relations.

Guo et al., "LightRAG: Simple and Fast Retrieval-Augmented Generation" (arXiv 2410.05779). `finray extend --with
lightrag` asks a language model for the entities and relations of each page (its chunks of 1,200 tokens are about as
long) and stores them with their vectors. A question becomes keywords on two levels: the low ones find entities, their
relations and their pages (local), the high ones find relations, their entities and their pages (global); "hybrid" takes
turns, and "mix" has a third turn for the pages nearest to the question by vector. The passages are whole pages. Its own
answer reads the entities and relations too.

This is a small implementation over the tables of the index; the authors' package keeps its own stores. Entities are
merged within a filing, not across filings: all filings print the same line items, and one node for everyone's "Total
assets" would lead anywhere.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Literal, TypeVar

import pyarrow as pa

from finray.core.filing import Filing
from finray.core.journal import Journal
from finray.core.method_settings import LightragParameters
from finray.core.passages import Document, PageKey, Passage
from finray.core.predictions import TokenUsage
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.roles import AnsweredPassages
from finray.core.settings import Settings
from finray.index.extensions.extension import Cost, FilingExtension, OfFiling
from finray.index.extensions.made_with import encoder_record, llm_record
from finray.index.extensions.table import open_extension
from finray.index.reading.reader import IndexReader
from finray.models.chat import ChatModel
from finray.models.encoder import query_vector
from finray.models.encoder_loading import load_encoder
from finray.models.load_chat import disconnect, load_chat
from finray.retrieval.flat import Scope, doc_names, scope
from finray.retrieval.graph.keywords import Keywords, asked_keywords, read_keywords
from finray.retrieval.graph.memory import KnowledgeGraph
from finray.retrieval.graph.parts import COLUMNS, FilingGraph, graph_columns, graph_of_row
from finray.retrieval.graph.tagged import tagged_graph
from finray.retrieval.graph.written import written_graph
from finray.retrieval.methods.asking import OVER_PASSAGES, Asker
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.stopwatch import Stopwatch

Name = Literal["lightrag", "lightrag_rules"]
STAGE: Final = "lightrag"
OVER_GRAPH: Final = (
    f"{OVER_PASSAGES} The passage without an id lists entities and relations of the filings: it helps to find what the "
    "others print, and cannot be cited."
)
_SHOWN_PARTS = 30
"""Entities, and as many relations, that an answer reads."""
_SHOWN_CHARACTERS = 240


def graph_extension(name: Name, settings: Settings, chat: ChatModel | None = None) -> FilingExtension:
    """The graph of each filing; ``lightrag`` asks ``chat``, by default the model of the settings."""
    encoder_settings = settings.encoder
    made_with = encoder_record(encoder_settings)
    if name == "lightrag":
        made_with |= {**llm_record(settings.llm), "llm_max_tokens": settings.llm.max_tokens}

    def load(reader: IndexReader) -> OfFiling:
        encoder = load_encoder(encoder_settings)
        filings = reader.filings().by_id

        def build(filing_id: str) -> tuple[Mapping[str, pa.Array], Cost]:
            stopwatch = Stopwatch()
            if name == "lightrag_rules":
                graph, usage = _by_rules(reader, filings[filing_id]), TokenUsage()
            else:
                graph, usage = asyncio.run(_by_model(reader, filings[filing_id], settings, chat))
            columns = graph_columns(graph, encoder)
            return columns, stopwatch.cost(usage, len(graph.entities) + len(graph.relations))

        return build

    return FilingExtension(name, made_with, load, things="graphs")


def _by_rules(reader: IndexReader, filing: Filing) -> FilingGraph:
    rows = reader.pages([filing.filing_id], ["page", "text", "headings"]).to_pylist()
    pages = [(row["page"], row["text"], row["headings"]) for row in rows]
    lines = reader.line_items([filing.filing_id]).get(filing.filing_id, ())
    return tagged_graph(filing, reader.cover_summary(filing.filing_id), pages, lines)


async def _by_model(
    reader: IndexReader, filing: Filing, settings: Settings, chat: ChatModel | None
) -> tuple[FilingGraph, TokenUsage]:
    """The graph by ``chat``, or by the model of the settings, whose connections belong to the running event loop."""
    model = chat or load_chat(settings.llm)
    rows = reader.pages([filing.filing_id], ["page", "text"]).to_pylist()
    try:
        return await written_graph(model, [(row["page"], row["text"]) for row in rows], filing.doc_name)
    finally:
        await disconnect(model)


class GraphPassages:
    """Pages of the entities and relations that fit the keywords of a question; ``keywords`` asks the chat model for
    these."""

    def __init__(self, tools: Toolbox, graph: KnowledgeGraph, chosen: LightragParameters, *, keywords: bool) -> None:
        self._tools = tools
        self._graph = graph
        self._chosen = chosen
        self._chat = tools.chat_model() if keywords or tools.answers else None
        self._asks_keywords = keywords
        self._names = doc_names(tools.reader)

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        """Raises ModelReplyError if the keywords or the answer of the model cannot be used."""
        if self._graph.unusable:
            journal.note(f"{STAGE}: the graph lacks {self._graph.unusable} pages whose replies were unusable")
        asker = None if self._chat is None else Asker(self._chat, STAGE, journal)
        if asker is not None and self._asks_keywords:
            keywords = await asked_keywords(query, asker)
        else:
            keywords = read_keywords(query, self._tools.catalog)
        journal.note(f"{STAGE}: low-level {excerpt(keywords.low, 200)!r}, high-level {excerpt(keywords.high, 200)!r}")
        nodes, edges, places = await self._found(query, keywords, scope(documents), k)
        found = self._read(places[:k])
        if asker is None or not self._tools.answers:
            return found
        context = self._described(nodes[:_SHOWN_PARTS], edges[:_SHOWN_PARTS])
        return AnsweredPassages(found, await asker.answer(OVER_GRAPH, query.question, found, context=context))

    async def _found(
        self, query: Query, keywords: Keywords, within: Scope, k: int
    ) -> tuple[list[int], list[int], list[PageKey]]:
        """Entities, relations and pages, each in the order in which they were found."""
        graph, limit, mode = self._graph, self._chosen.top_k, self._chosen.mode
        encode = partial(query_vector, self._tools.encoder)
        nodes = graph.nearest_nodes(await encode(keywords.low), within, limit) if mode != "global" else []
        edges = graph.nearest_edges(await encode(keywords.high), within, limit) if mode != "local" else []
        nearest: list[PageKey] = []
        if mode == "mix":
            hits = self._tools.reader.search_pages_vector(await encode(query.question), within, k)
            nearest = list(zip(hits["filing_id"].to_pylist(), hits["page"].to_pylist(), strict=True))
        places = _in_turns(graph.pages_of_nodes(nodes), graph.pages_of_edges(edges), nearest)
        return _in_turns(nodes, graph.nodes_of(edges)), _in_turns(graph.edges_of(nodes), edges), places

    def _read(self, places: Sequence[PageKey]) -> list[Passage]:
        """Whole pages as passages; the score is 1 / rank."""
        texts = self._tools.reader.page_texts(places)
        found: list[Passage] = []
        for rank, (filing_id, page) in enumerate(places, start=1):
            text = texts[filing_id, page]
            found.append(Passage(self._names[filing_id], filing_id, page, 0, len(text), text, 1 / rank))
        return found

    def _described(self, nodes: Sequence[int], edges: Sequence[int]) -> str:
        """The entities and relations as lines."""
        lines = []
        for number in nodes:
            node = self._graph.nodes[number]
            lines.append(f"Entity: {node.entity.name} ({self._names[node.filing_id]}): {node.entity.text}")
        for number in edges:
            edge = self._graph.edges[number]
            ends = f"{edge.relation.source} - {edge.relation.target} ({self._names[edge.filing_id]})"
            lines.append(f"Relation: {ends}: {edge.relation.text or edge.relation.keywords}")
        return "\n".join(excerpt(line, _SHOWN_CHARACTERS) for line in lines)


T = TypeVar("T")


def _in_turns(*streams: Sequence[T]) -> list[T]:
    """The first of each stream, then the second of each, and so on; each item once."""
    rounds = itertools.chain.from_iterable(itertools.zip_longest(*streams))
    return list(dict.fromkeys(item for item in rounds if item is not None))


def build_with(tools: Toolbox, name: Name, *, keywords: bool) -> Retrieval:
    """The method over the graph of the open index. Raises IndexMismatchError if `finray extend` has not stored it."""
    stored = open_extension(tools.reader, graph_extension(name, tools.settings)).rows(COLUMNS).to_pylist()
    dimension = tools.encoder.dimension
    graph = KnowledgeGraph(((row["filing_id"], *graph_of_row(row, dimension)) for row in stored), dimension)
    return tools.flat(GraphPassages(tools, graph, getattr(tools.settings.methods, name), keywords=keywords))


def extension(settings: Settings) -> FilingExtension:
    return graph_extension("lightrag", settings)


def build(tools: Toolbox) -> Retrieval:
    return build_with(tools, "lightrag", keywords=True)

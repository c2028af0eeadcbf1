"""``raptor``: chunks and summaries compete; a summary stands for a chunk below it."""

from __future__ import annotations

import numpy as np

from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.settings import load_settings
from finray.index.extensions.table import open_extension
from finray.index.reading.reader import IndexReader
from finray.models.hash_encoder import HashEncoder
from finray.retrieval.methods import raptor
from finray.retrieval.trees.store import FilingTrees, TreeStore

from .conftest import FAKES, Build

NAME = "grevandor-systems-2022-10k"


def given(reader: IndexReader) -> list[Document]:
    return [Document(filing, 1.0) for filing in reader.filings() if filing.doc_name == NAME]


def stored(reader: IndexReader) -> FilingTrees:
    settings = load_settings(overrides=FAKES, environment={})
    filing_id = given(reader)[0].filing.filing_id
    return TreeStore(open_extension(reader, raptor.extension(settings))).trees([filing_id])[filing_id]


async def test_a_tree_covers_all_chunks_in_layers(reader: IndexReader, search_with: Build) -> None:
    search_with("raptor")
    trees = stored(reader)
    assert len(trees.places) == reader.row_counts("chunks")[given(reader)[0].filing.filing_id]
    levels = {node.level for _, node in trees.nodes}
    for level in levels:
        below = [set(node.leaves) for _, node in trees.nodes if node.level == level]
        assert set().union(*below) == set(range(len(trees.places)))


async def test_a_summary_that_is_nearest_brings_its_nearest_chunk(reader: IndexReader, search_with: Build) -> None:
    """The question is the summary itself, so its node is first."""
    searcher = search_with("raptor")
    trees = stored(reader)
    _, node = trees.nodes[0]
    journal = Journal()
    found = await searcher.inside(node.summary, given(reader), k=3)
    vector = HashEncoder().encode_query(node.summary)
    assert found[0].score >= float(np.dot(node.vector, vector)) - 1e-5
    query = await searcher(node.summary, k=3, journal=journal)
    assert query and any(line.startswith("raptor: ") for line in journal.lines)
    below = {trees.places[leaf] for leaf in node.leaves}
    assert below & {(passage.page, passage.start) for passage in found}

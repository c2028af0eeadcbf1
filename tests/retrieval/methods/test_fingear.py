"""``fingear``: Items by the lexicon, pages by two trees, two stages of reranking, and the paper's ablations."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from finray.core.errors import IndexMismatchError, SettingsError
from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.settings import load_settings
from finray.index.extensions.table import open_extension
from finray.index.extensions.update import extend_index
from finray.index.reading.reader import IndexReader
from finray.retrieval.methods import fingear
from finray.retrieval.trees.store import TreeStore

from .conftest import FAKES, Build

QUESTION = "What did Grevandor Systems report as operating lease commitments for fiscal 2022?"
NAME = "grevandor-systems-2022-10k"


def given(reader: IndexReader) -> list[Document]:
    return [Document(filing, 1.0) for filing in reader.filings() if filing.doc_name == NAME]


def budgets(journal: Journal) -> dict[str, int]:
    line = next(line for line in journal.lines if line.startswith("fingear: "))
    return {item: int(budget) for item, budget in re.findall(r"Item (\S+) [\d.]+ -> (\d+)", line)}


async def test_the_items_that_use_the_questions_terms_share_the_passages(search_with: Build) -> None:
    journal = Journal()
    found = await search_with("fingear", retrieval__k_documents=1)(QUESTION, k=10, journal=journal)
    assert any("operating lease" in line for line in journal.lines)
    shares = budgets(journal)
    assert sum(shares.values()) == 10 and shares["8"] > shares.get("1A", 0)
    assert len({passage.doc_name for passage in found}) == 1
    assert 0 < len(found) <= 10 and all(passage.start == 0 for passage in found)


async def test_the_cross_encoder_orders_across_items(search_with: Build) -> None:
    """Its scores are shares of the question's words, so they cannot be those of ranks."""
    with_ = await search_with("fingear")(QUESTION, k=8)
    without = await search_with("fingear", methods__fingear__rerank=False)(QUESTION, k=8)
    assert max(passage.score for passage in without) <= 2 / 61 < max(passage.score for passage in with_) <= 1


async def test_without_flam_every_item_is_searched_whatever_the_budget(search_with: Build, reader: IndexReader) -> None:
    """The best pages of ten are the best of a hundred: no Item is left out because it comes late in the filing."""
    for rerank in (True, False):
        journals = Journal(), Journal()
        search = search_with("fingear", methods__fingear__flam=False, methods__fingear__rerank=rerank)
        few, many = [await search(QUESTION, k=k, journal=at) for k, at in zip((3, 100), journals, strict=True)]
        assert [budgets(journal) for journal in journals] == [{"all": 3}, {"all": 100}]
        assert [(p.filing_id, p.page) for p in few] == [(p.filing_id, p.page) for p in many][:3]
    items = {row["page"]: row["item"] for row in reader.pages([many[0].filing_id], ["page", "item"]).to_pylist()}
    assert len({items[passage.page] for passage in many if passage.filing_id == many[0].filing_id}) > 3


@pytest.mark.parametrize("off", ["summary_tree", "question_tree"])
async def test_one_tree_alone_finds_passages(search_with: Build, reader: IndexReader, off: str) -> None:
    both = await search_with("fingear").inside(QUESTION, given(reader), k=20)
    alone = await search_with("fingear", **{f"methods__fingear__{off}": False}).inside(QUESTION, given(reader), k=20)
    assert 0 < len(alone) <= len(both)
    assert {passage.page for passage in alone} <= {passage.page for passage in both}


def test_without_both_trees_nothing_could_be_found(search_with: Build) -> None:
    with pytest.raises(SettingsError, match="both false"):
        search_with("fingear", methods__fingear__summary_tree=False, methods__fingear__question_tree=False)


async def test_a_wider_beam_visits_more_leaves(search_with: Build, reader: IndexReader) -> None:
    narrow, wide = [
        {p.page for p in await search_with("fingear", methods__fingear__beam=beam).inside(QUESTION, given(reader), 60)}
        for beam in (1, 8)
    ]
    assert narrow < wide


@pytest.mark.slow
def test_chunks_can_be_the_leaves(reader: IndexReader, search_with: Build, tmp_path: Path) -> None:
    index = str(shutil.copytree(reader.uri, tmp_path / "index", ignore=shutil.ignore_patterns("extensions")))
    settings = load_settings(overrides={**FAKES, "methods.fingear.leaves": "chunks"}, environment={})
    opened = IndexReader.open(index, settings)
    extend_index(opened, fingear.extension(settings))
    store = TreeStore(open_extension(opened, fingear.extension(settings)))
    filing = given(reader)[0].filing
    trees = store.trees([filing.filing_id])[filing.filing_id]
    assert len(trees.places) == opened.row_counts("chunks")[filing.filing_id]
    assert any(node.questions and node.summary and node.title for _, node in trees.nodes)


def test_trees_made_otherwise_are_refused_but_ablations_are_not(search_with: Build) -> None:
    search_with("fingear", methods__fingear__weighting="softmax", methods__fingear__beam=2)
    with pytest.raises(IndexMismatchError, match=r"'fingear' trees .* were made with .*--rebuild"):
        search_with("fingear", methods__fingear__questions=7)


async def test_every_page_with_text_is_a_leaf_of_its_item(reader: IndexReader, search_with: Build) -> None:
    search_with("fingear")
    settings = load_settings(overrides=FAKES, environment={})
    store = TreeStore(open_extension(reader, fingear.extension(settings)))
    for filing in reader.filings():
        trees = store.trees([filing.filing_id])[filing.filing_id]
        rows = reader.pages([filing.filing_id], ["page", "item", "text"]).to_pylist()
        wanted = {row["page"]: row["item"] or "" for row in rows if row["text"].strip()}
        assert {trees.places[leaf][0]: tree.item for tree in trees.trees for leaf in tree.leaves} == wanted
        for tree in trees.trees:
            reached = {leaf for node in tree.nodes if node.level == 1 for leaf in node.leaves}
            assert reached in (set(), set(range(len(tree.leaves))))

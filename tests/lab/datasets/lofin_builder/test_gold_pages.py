"""Gold pages by words, by meaning and by figures."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import LineItem
from finray.lab.datasets.lofin_builder.closed import Context
from finray.lab.datasets.lofin_builder.gold_pages import FilingPages, FoundPage, text_match
from finray.lab.datasets.lofin_builder.printed_pages import PrintedQuestion, find_printed
from finray.lab.datasets.lofin_builder.similarity import by_encoder, by_entailment

PAGES = [
    "Form 10-K for 2016",
    "Revenue | 5,829 | 5,735\nCost of sales | 3,120 | 3,001\nWe sell robots to factories in three regions.",
    "Revenue by region | 2,000 | 3,829\nThe increase was driven by a rise in the volume of robots sold abroad.",
    "Leases of offices and plants are described in note 9 to the statements.",
]
TABLE = "revenue | $ 5829 | $ 5735\ncost of sales | 3120.0 | 3001"
PROSE = "we sell robots to factories in three regions ."


def test_both_methods_choose_the_page() -> None:
    found = FilingPages(PAGES).find(Context(table=TABLE, prose=PROSE), text_match)
    assert found == FoundPage(1, 1)
    assert found.agreed == 1


def test_distinct_numbers_count_however_they_are_written() -> None:
    pages = FilingPages(PAGES)
    assert pages.bm25("5829").argmax() == 1
    assert pages.bm25("5829 5829 5829")[1] == pages.bm25("5,829.00")[1]


def test_methods_that_differ_accept_nothing() -> None:
    other = "the increase was driven by a rise in the volume of robots sold abroad ."
    assert FilingPages(PAGES).find(Context(table=TABLE, prose=other), text_match) == FoundPage(1, 2)
    assert FoundPage(1, 2).agreed is None
    assert FilingPages(PAGES).find(Context(table=TABLE), text_match).agreed is None
    assert FilingPages(PAGES).find(Context(table="zzz", prose="zzz"), text_match) == FoundPage(None, None)


@given(st.lists(st.text(max_size=20), max_size=4), st.text(max_size=20))
def test_any_text_is_searched(texts: list[str], context: str) -> None:
    found = FilingPages(texts).find(Context(table=context, prose=context), text_match)
    assert all(page is None or 0 <= page < len(texts) for page in (found.by_words, found.by_meaning))


class WordEncoder:
    """Vectors of three words."""

    dimension = 3

    def __init__(self) -> None:
        self.encoded = 0

    def encode_passages(self, texts: Sequence[str]) -> Any:
        self.encoded += len(texts)
        rows = [[text.lower().count(word) for word in ("robots", "volume", "leases")] for text in texts]
        vectors = np.array(rows, dtype=np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def encode_query(self, text: str) -> Any:
        return self.encode_passages([text])[0]


def test_an_encoder_reads_each_page_once() -> None:
    encoder = WordEncoder()
    similarity = by_encoder(encoder)
    assert similarity("leases", PAGES).argmax() == 3
    assert similarity("volume of robots", PAGES).argmax() == 2
    assert encoder.encoded == len(PAGES) + 2


class Entailment:
    """A cross-encoder whose entailment is the share of the hypothesis' words in the premise."""

    def __init__(self, *labels: str) -> None:
        self.config = SimpleNamespace(id2label=dict(enumerate(labels)))

    def predict(self, pairs: Sequence[tuple[str, str]], **_: object) -> Any:
        shares = [np.mean([word in premise.lower() for word in line.lower().split()]) for premise, line in pairs]
        width = len(self.config.id2label)
        scores = np.zeros((len(pairs), width))
        scores[:, -1 if width == 1 else 1] = np.array(shares) * 5
        return scores if width > 1 else scores[:, 0]


def test_a_cross_encoder_s_entailment_counts() -> None:
    for model in (Entailment("contradiction", "entailment", "neutral"), Entailment("LABEL_0")):
        assert by_entailment(model)(PROSE, PAGES).argmax() == 1


def item(page: int, label: str, value: float) -> LineItem:
    return LineItem(page, None, label, value, f"{value:g}", "USD", 1, None, None)


def test_pages_of_another_edition_shift_together() -> None:
    texts = [f"Filler page {number} about nothing at all" for number in range(60)]
    texts[20] = "Facilities\nOwned facilities 80\nLeased facilities 3"
    texts[30] = "Pension plan contributions\nContributions 12\nBenefits 40"
    texts[40] = "Warranty claims\nClaims paid 7\nClaims accrued 9"
    texts[55] = "Leased facilities are discussed elsewhere, and so are facilities that affiliates have leased"
    items = [
        item(20, "Leased facilities", 3), item(20, "Owned facilities", 80), item(30, "Contributions", 12),
        item(30, "Benefits", 40), item(40, "Claims paid", 7), item(40, "Claims accrued", 9),
    ]  # fmt: skip
    asked = {
        "a": PrintedQuestion("Acme, fiscal year 2017 10-K: what percent of facilities are leased?", 25, 0.03614),
        "b": PrintedQuestion("what were contributions to the pension plan as a share of benefits?", 35, 0.3),
        "c": PrintedQuestion("how much of the warranty claims was paid?", 45, 0.5),
    }
    found = find_printed(FilingPages(texts), items, asked)
    assert [found[qid].by_words for qid in "abc"] == [20, 30, 40]
    assert [found[qid].agreed for qid in "abc"] == [20, 30, None]

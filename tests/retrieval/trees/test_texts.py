"""Nodes by rules: headings, central sentences and line items of what they cover."""

from __future__ import annotations

import asyncio
import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import LineItem
from finray.retrieval.trees.texts import Piece, RuleWriter, Written, piece_lines, term_rarity

DEBT = Piece(
    "Long-term debt\nOur senior notes mature in 2027 and bear interest at a fixed rate of 4.5 percent.\n"
    "The revolving credit facility contains covenants on leverage and on interest coverage.\n"
    "We were in compliance with all debt covenants at year end.",
    headings=("Long-term debt",),
    lines=(("Senior notes due 2027", "2023"), ("Total long-term debt", "2023")),
)
LEASES = Piece("Operating leases\nWe lease warehouses and offices under operating leases.", ("Operating leases",))


def write(*pieces: Piece, tokens: int = 200, questions: int = 5) -> Written:
    rarity = term_rarity(piece.text for piece in (*pieces, LEASES))
    return asyncio.run(RuleWriter(rarity, tokens, questions).write(pieces))


def test_a_node_has_the_title_the_sentences_and_the_line_items_of_its_leaves() -> None:
    node = write(DEBT)
    assert node.title == "Long-term debt"
    assert "revolving credit facility" in node.summary and "Total long-term debt" in node.summary


def test_questions_come_from_line_items_and_headings() -> None:
    asked = write(DEBT).questions
    assert "What was Total long-term debt in 2023?" in asked
    assert "What does the filing report about Long-term debt?" in asked
    assert len(write(DEBT, questions=2).questions) == 2


def test_a_sentence_that_repeats_another_is_left_out() -> None:
    node = write(DEBT, DEBT)
    assert node.summary.count("revolving credit facility") == 1


def test_equally_central_headings_keep_their_order() -> None:
    """Whatever the order in which a process adds up the weights of their terms."""
    weights = {"x": 0.1, "y": 0.2, "z": 0.3}
    endings = ["bab", "cac", "dad", "faf", "gag", "kak", "lal", "mam", "nan", "pap"]
    rarity = {start + ending: weight for ending in endings for start, weight in weights.items()}
    headings = tuple(" ".join(start + ending for start in weights) for ending in endings)
    node = asyncio.run(RuleWriter(rarity, 200, 99).write([Piece(" ".join(headings), headings)]))
    assert node.questions == tuple(f"What does the filing report about {heading}?" for heading in headings)


def test_each_label_has_its_latest_year() -> None:
    items = [LineItem(0, None, "Revenue :", 1.0, "1", "USD", 1, dt.date(year, 12, 31), 12) for year in (2021, 2022)]
    assert piece_lines(items) == (("Revenue", "2022"),)


@given(st.lists(st.text(max_size=300).filter(str.strip), min_size=1, max_size=4), st.integers(10, 60))
def test_any_text_gives_a_summary_within_its_length(texts: list[str], tokens: int) -> None:
    node = write(*(Piece(text, (text[:20],)) for text in texts), tokens=tokens)
    assert 0 < len(node.summary) <= 4 * tokens

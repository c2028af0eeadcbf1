"""Tables in a narrow terminal: nothing is too wide, cut off, or broken inside of a word."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from finray.core.passages import Passage
from finray.core.predictions import Prediction, Status
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.evaluate import evaluate
from finray.lab.evaluation.report import report
from finray.lab.evaluation.text_tables import TextTable, wrapped

TYPES = (
    "numeric_table", "numeric_quarter", "percent_difference", "dividends_total", "revenue_growth", "highest_of",
    "textual", "unanswerable", "a question type of several words over two or more filings of one company",
    "metrics-generated/multi_step_ratio_over_two_filings",
)  # fmt: skip
GOLD = (GoldEvidence("A", 1, "Revenue was 5"),)
FOUND = (Passage("A", "A", 1, 0, 13, "Revenue was 5", 1.0),)
HEADS = ("filing@1", "page@5", "numeric", "textual, by rules", "wrong figure", "wrongly refused", "rightly refused")


def printed(table: object, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, record=True)
    console.print(table)
    lines = console.export_text().splitlines()
    assert max(map(cell_len, lines)) <= width
    return lines


def questions_and_predictions() -> tuple[list[Question], list[Prediction]]:
    asked, given = [], []
    for at, kind in enumerate(TYPES * 3):
        answerable = kind != "unanswerable"
        gold = "It rose." if kind == "textual" else "5"
        asked.append(Question(f"q{at}", f"q{at}?", gold if answerable else None, kind, GOLD if answerable else ()))
        status: Status = "answered" if at % 4 else "unanswerable"
        given.append(
            Prediction(f"q{at}", f"q{at}?", "5", status, passages=FOUND, evidence=FOUND, seconds=1.0, settings_hash="h")
        )
    return asked, given


def test_question_types_with_long_names_keep_their_words_whole() -> None:
    asked, given = questions_and_predictions()
    lines = printed(report({"predictions": evaluate(given, asked)}))
    words = {word for line in lines for word in line.split()}
    for name in (*TYPES[:-1], *HEADS):
        assert set(name.split()) <= words, name
    assert "metrics-generated/" in " ".join(lines)  # an overlong name is broken where its parts meet
    by_type = lines[next(at for at, line in enumerate(lines) if "By question type" in line) :]
    assert sum("revenue_growth" in line for line in by_type) >= 2  # its figures stand in several parts


def test_any_number_of_runs_fits() -> None:
    asked, given = questions_and_predictions()
    names = ["predictions", "oracle-page", *(f"predictions_of_financebench_2024-10_preset_{n}" for n in range(7))]
    lines = printed(report({name: evaluate(given, asked) for name in names}))
    text = " ".join(lines)
    assert len(re.findall(r"(?m)^ *page_recall@5 ", "\n".join(lines))) >= 4
    for part in ("predictions_of_", "financebench_", "oracle-page", *(f"preset_{n}" for n in range(7))):
        assert part in text, part


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z", "M")), max_size=50), min_size=1),
    st.integers(20, 120),
)
def test_any_cells_at_any_width_are_shown_whole(cells: list[str], width: int) -> None:
    shown = "".join(printed(TextTable("", ("label", *cells), [("x", *cells), ("y", *cells)]), width))
    for cell in cells:
        assert set(cell) <= set(shown)


def test_words_are_broken_only_where_they_must() -> None:
    assert wrapped("textual, by rules", 8).split("\n") == ["textual,", "by rules"]
    assert wrapped("predictions_financebench", 14).split("\n") == ["predictions_", "financebench"]
    assert wrapped("a" * 5, 3).split("\n") == ["aaa", "aa"]
    assert wrapped("", 3) == ""

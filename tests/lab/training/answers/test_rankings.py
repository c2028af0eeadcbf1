"""Training data of rankings: labels, which ranking is meant, and the command."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from finray.answering.cells.page_cells import PageCells
from finray.answering.rankings.blocks import blocks_of
from finray.answering.rankings.choice import read_ranking_model
from finray.answering.rankings.ranked import Ranking, rankings_of
from finray.cli import main
from finray.core.errors import UsageError
from finray.core.questions import GoldEvidence, Question
from finray.index.reading.reader import IndexReader
from finray.lab.training.answers.ranking_labels import (
    INVENTED,
    GoldRanking,
    LabelledQuestion,
    gold_ranking,
    head_data,
    is_ranking,
    labelled_questions,
)
from finray.lab.training.answers.rankings import is_meant, names_answer
from finray.lab.training.question.question_heads import UNKNOWN
from tests.answering.made_up_cells import ITEMS, facts, passage
from tests.answering.rankings.made_up_rankings import FakeReader

_EVIDENCE = (GoldEvidence("ACME_2022", 3),)
WRITTEN = Question(
    "1", "Whose spending fell most?", "Frito Snacks: -$136 million", "ranking_difference", _EVIDENCE,
    program="min(difference): 665, 801",
)  # fmt: skip
NATURAL = Question(
    "2", "Which division spends most?", "North America Beverages, with $904 million", "open_extreme", _EVIDENCE
)


def _rankings() -> list[Ranking]:
    cells = PageCells(facts(ITEMS)).read((passage(3),))
    return [ranking for block in blocks_of(cells) for ranking in rankings_of(block)]


def test_the_program_of_a_written_question_says_what_is_ranked() -> None:
    assert gold_ranking(WRITTEN) == GoldRanking("difference", True, "665, 801")
    assert gold_ranking(NATURAL) is None
    assert is_ranking(WRITTEN)
    assert is_ranking(NATURAL)
    assert not is_ranking(Question("3", "Net sales?", question_type="open_cell"))
    assert not is_ranking(Question("4", "Which of Acme's zoos is the largest?", question_type=INVENTED))


def test_a_question_for_a_ranking_of_invented_things_asks_for_one() -> None:
    questions = [WRITTEN, Question("4", "Which of Acme's zoos is the largest?", question_type=INVENTED)]
    labelled = [LabelledQuestion("Which year was worst?", "value", "min", "periods")]
    data = head_data(questions, labelled, ["What was revenue?"], FakeReader())
    assert data.labels["ranks"].tolist() == [1, 1, 1, 0]
    assert data.labels["measured"].tolist() == [1, UNKNOWN, 0, UNKNOWN]
    assert data.labels["direction"].tolist() == [1, UNKNOWN, 1, UNKNOWN]
    assert data.labels["axis"].tolist() == [0, UNKNOWN, 1, UNKNOWN]


def test_only_the_written_ranking_is_meant_but_others_name_its_winner() -> None:
    meant = [each for each in _rankings() if is_meant(WRITTEN, each)]
    assert {(each.measured, each.lowest) for each in meant} == {("difference", True)}
    assert sum(names_answer(WRITTEN, each) for each in _rankings()) > len(meant)


def test_an_answer_in_words_is_named_by_its_first_words_and_figure() -> None:
    meant = [each for each in _rankings() if is_meant(NATURAL, each)]
    assert {each.block.members[each.winner].name for each in meant} == {"North America Beverages"}


def test_another_page_is_not_meant() -> None:
    elsewhere = Question("1", "?", WRITTEN.answer, "ranking_difference", (GoldEvidence("ACME_2022", 4),))
    assert not any(is_meant(elsewhere, each) for each in _rankings())


@pytest.mark.parametrize(
    "line", ["{}", "[", '{"question": "x", "measured": "sum", "direction": "max", "axis": "things"}']
)
def test_bad_labels_are_refused_with_their_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1: not a labelled ranking question"):
        labelled_questions(path)


_REPORTS = 4


def _sample_questions(index: str) -> list[dict[str, object]]:
    """About the largest of comparable rows of three reports."""
    reader = IndexReader.open(index)
    found: list[dict[str, object]] = []
    for filing in reader.filings():
        items = [
            each
            for each in reader.line_items([filing.filing_id]).get(filing.filing_id, [])
            if each.statement == "balance"
        ]
        own: dict[str, float] = {
            each.label: each.value for each in items if each.period_end == filing.period_end and each.value > 0
        }
        if not own or len(found) == _REPORTS:
            continue
        label = max(own, key=lambda name: own[name])
        item = next(each for each in items if each.label == label and each.period_end == filing.period_end)
        found.append(
            {
                "qid": filing.filing_id,
                "question": f"Which balance sheet item of {filing.company} was the largest in {filing.fiscal_year}?",
                "answer": f"{label}: {item.text}",
                "question_type": "ranking_value",
                "evidence": [{"doc_name": filing.doc_name, "page": item.page, "text": f"{label} {item.text}"}],
                "program": f"max(value): {item.text}",
            }
        )
    return found


@pytest.mark.slow
def test_the_command_fits_to_questions_over_an_index(
    sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions, labels = tmp_path / "questions.jsonl", tmp_path / "labels.jsonl"
    questions.write_text("".join(json.dumps(each) + "\n" for each in _sample_questions(sample_index)), "utf-8")
    others = tmp_path / "others.jsonl"
    asked = ("net sales", "net income", "goodwill", "inventories", "total assets", "dividends paid", "cash", "debt")
    others.write_text(
        "".join(json.dumps({"qid": str(n), "question": f"What were {name}?"}) + "\n" for n, name in enumerate(asked)),
        "utf-8",
    )
    combinations = itertools.product(("value", "difference", "growth"), ("max", "min"), ("things", "periods"))
    labels.write_text(
        "".join(
            json.dumps({"question": f"{m} {d} {a}?", "measured": m, "direction": d, "axis": a}) + "\n"
            for m, d, a in combinations
        ),
        "utf-8",
    )
    preset = tmp_path / "hash.toml"
    preset.write_text('[encoder]\nmodel = "hash"\n', encoding="utf-8")
    out = tmp_path / "rankings"
    given = ["--questions", questions, "--index", sample_index, "--labelled", labels, "--others", others]
    monkeypatch.setattr(
        "sys.argv", ["finray", "train", "rankings", *map(str, given), "--preset", str(preset), "--out", str(out)]
    )
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    read_ranking_model((out / "ranking_choice.json").read_text("utf-8"), "ranking_choice.json")
    assert {path.name for path in out.iterdir()} == {
        "ranking_choice.json",
        "ranking_blocks.json",
        "ranking_question.npz",
    }


def test_too_few_questions_are_refused_in_one_line(
    sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, preset = tmp_path / "questions.jsonl", tmp_path / "hash.toml"
    questions.write_text("".join(json.dumps(each) + "\n" for each in _sample_questions(sample_index)[:1]), "utf-8")
    preset.write_text('[encoder]\nmodel = "hash"\n', encoding="utf-8")
    given = ["--questions", str(questions), "--index", sample_index, "--preset", str(preset)]
    monkeypatch.setattr("sys.argv", ["finray", "train", "rankings", *given, "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "too few questions to learn from" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


def test_a_missing_file_of_labels_is_named_before_any_question_is_answered(
    sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(json.dumps(each) + "\n" for each in _sample_questions(sample_index)), "utf-8")
    given = ["--questions", str(questions), "--index", sample_index, "--labelled", str(tmp_path / "absent.jsonl")]
    monkeypatch.setattr("sys.argv", ["finray", "train", "rankings", *given])
    with pytest.raises(SystemExit) as stop:
        main()
    error = " ".join(capsys.readouterr().err.split())
    assert stop.value.code
    assert "absent.jsonl" in error
    assert "answering" not in error

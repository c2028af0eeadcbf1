"""Fitting the row match: scores match the answerer, weights with data are learned, others keep their prior."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from finray.answering.cells.cell_words import Rarity, concept_words
from finray.answering.cells.lookup import standing
from finray.answering.cells.row_match import Matcher
from finray.answering.cells.row_weights import (
    THRESHOLDS,
    WEIGHTS,
    Reading,
    Standing,
    fitted_row_weights,
    row_weights,
    shipped_row_weights,
    standing_factor,
)
from finray.cli import main
from finray.core.errors import UsageError
from finray.core.filing import LineItem
from finray.lab.training.answers.row_match import WEAK_WORDS, CellReadings, RowChoice, RowTable, fit_row_match, held_out
from finray.lab.training.answers.row_match_data import load_row_choices, save_row_choices
from finray.question.measures.phrase import phrase_of

PRIOR = fitted_row_weights().prior
NONE = Reading(*[0.0] * len(Reading._fields))
FULL = NONE._replace(asked=1.0, row=1.0, own=1.0)


def cell(*, gold: bool = False, has_concept: bool = False, **found: float) -> CellReadings:
    reading = FULL._replace(**found)
    return CellReadings(((reading, reading),), (), has_concept, Standing(0, 0, 0, 0), gold)


def choice(number: int, *cells: CellReadings, company: str = "") -> RowChoice:
    return RowChoice(f"q{number}", company or str(number % 10), cells)


def test_arrays_score_as_the_answerer_does() -> None:
    row = LineItem(3, None, "Federal", 1.0, "1", "USD", 1, dt.date(2024, 12, 31), 12, section="Current:")
    items = [
        row,
        replace(row, section="Deferred:", row=1, value=0.0, months=None),
        replace(row, label="Income taxes, net", concept="us-gaap:IncomeTaxExpenseBenefit", row=2, statement="income"),
        replace(row, label="Income tax", concept="us-gaap:DeferredFederalIncomeTaxExpenseBenefit", row=3),
        replace(row, label="Goodwill", concept="us-gaap:Goodwill", row=4, column_label="Europe"),
    ]
    phrase = phrase_of("deferred federal income tax expense")
    assert phrase is not None
    weights = row_weights({**shipped_weights(), "weak_word": 0.4})
    readers = [Matcher(phrase, Rarity(items, weak), weights) for weak in WEAK_WORDS]
    cells = []
    for item in items:
        plain, tagged = (
            tuple(zip(*parts, strict=True)) for parts in zip(*(r.readings(item) for r in readers), strict=True)
        )
        cells.append(CellReadings(plain, tagged, bool(concept_words(item.concept)), standing(item, 12, True), False))
    matcher = Matcher(phrase, Rarity(items, 0.4), weights)
    expected = [matcher.fit(item).score * standing_factor(standing(item, 12, True), weights) for item in items]
    assert RowTable([choice(0, *cells)]).scores(weights).tolist() == pytest.approx(expected)
    assert max(expected) > 0.3


def shipped_weights() -> dict[str, float]:
    return {name: getattr(shipped_row_weights(), name) for name in WEIGHTS}


def test_weights_with_data_are_learned_and_others_keep_their_prior() -> None:
    choices = [choice(n, cell(part=1.0, gold=True), cell(row=0.0, caption=1.0)) for n in range(100)]
    weights = fit_row_match(choices, PRIOR, l2=0.01)
    assert weights["part"] > PRIOR["part"]
    assert weights["caption"] < PRIOR["caption"]
    moved = {name for name in WEIGHTS if abs(weights[name] - PRIOR[name]) > 1e-4}
    assert moved - set(THRESHOLDS) == {"part", "caption"}


def test_the_share_of_phrases_below_the_threshold_stays_the_same() -> None:
    rng = np.random.default_rng(0)
    choices = [choice(n, cell(row=0.9, surplus=float(rng.random()), gold=True), cell(row=0.62)) for n in range(200)]
    weights = fit_row_match(choices, PRIOR, l2=0.01)
    assert weights["unasked"] < PRIOR["unasked"]
    assert weights["sure_score"] > PRIOR["sure_score"]
    table = RowTable(choices)
    by_hand, fitted = (
        float(np.mean(table.best_fits(row_weights(named)) < named["sure_score"])) for named in (PRIOR, weights)
    )
    assert by_hand == pytest.approx(fitted, abs=0.01)
    assert 0.05 < fitted < 0.95


def test_weights_stay_within_their_bounds() -> None:
    choices = [choice(n, cell(missing=2.0, gold=True), cell()) for n in range(50)]
    weights = fit_row_match(choices, PRIOR, l2=0.0)
    assert 0.9 < weights["missing"] <= 1.0


def test_each_company_is_tested_by_weights_of_others() -> None:
    usual = [choice(n, cell(part=1.0, gold=True), cell(row=0.0, caption=1.0)) for n in range(100)]
    odd = [choice(n, cell(row=0.0, caption=1.0, gold=True), cell(part=1.0), company="odd") for n in range(9)]
    found = held_out([*usual, *odd], PRIOR, 0.01)
    assert len(found) == 109
    assert sum(fitted for fitted, _ in found) == 100


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    pair = (FULL, FULL._replace(missing=2.0, surplus=0.5))
    both = CellReadings((pair,), (pair, pair), True, Standing(1, 0, 1, 0), True)
    choices = [choice(1, both, cell()), choice(2, CellReadings((), (), False, Standing(0, 1, 0, 1), False))]
    save_row_choices(path, choices)
    assert load_row_choices(path) == choices


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04junk"])
def test_another_file_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.npz"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="create it again"):
        load_row_choices(path)
    np.savez_compressed(path, reading_names=np.asarray(["asked"]))
    with pytest.raises(UsageError, match="readings are of another version"):
        load_row_choices(path)


def test_a_file_that_lacks_cells_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    save_row_choices(path, [choice(1, cell(gold=True), cell())])
    with np.load(path) as arrays:
        np.savez_compressed(path, **{**arrays, "cells": arrays["cells"][:1]})
    with pytest.raises(UsageError, match="1 cells instead of 2"):
        load_row_choices(path)


@pytest.mark.slow
def test_the_shipped_weights_fit_the_shipped_data_better_than_those_chosen_by_hand() -> None:
    from finray.lab.training import answers

    choices = load_row_choices(Path(answers.__file__).parent / "row_match_data.npz")
    table = RowTable(choices)
    fitted, by_hand = shipped_row_weights(), row_weights(PRIOR)
    assert table.loss(fitted) < table.loss(by_hand)
    assert sum(table.first(fitted)) > sum(table.first(by_hand))


def test_the_command(
    sample_folder: Path, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    preset = tmp_path / "hash.toml"
    preset.write_text('[encoder]\nmodel = "hash"\n', encoding="utf-8")
    files = ["--data", str(tmp_path / "data.npz"), "--out", str(tmp_path / "weights.json"), "--json"]
    sources = ["--questions", str(sample_folder / "questions.jsonl"), "--index", sample_index, "--preset", str(preset)]
    monkeypatch.setattr("sys.argv", ["finray", "train", "row-match", *sources, *files])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    printed = json.loads(capsys.readouterr().out)
    assert printed["choices"] > 3
    assert set(json.loads((tmp_path / "weights.json").read_text(encoding="utf-8"))["weights"]) == set(WEIGHTS)

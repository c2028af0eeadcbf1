"""Fitting the filing match: weights with data are learned, others keep their prior, tests use held-out companies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from finray.cli import main
from finray.core.errors import UsageError
from finray.lab.training.retrieval.filing_match import FilingChoice, fit_filing_match, found_at, held_out
from finray.lab.training.retrieval.filing_match_data import load_filing_choices, save_filing_choices
from finray.retrieval.filing_match import PERIOD_MATCH, shipped_filing_match
from finray.retrieval.filing_relations import WEIGHTS, CoverRelations, PeriodRelation

PRIOR = shipped_filing_match().prior


def cover(period: str | None, form: str = "plain 10-K", *, amendment: bool = False) -> CoverRelations:
    return CoverRelations((PeriodRelation(period),), form, amendment, False)


def choice(number: int, gold: CoverRelations, *others: CoverRelations, company: str = "") -> FilingChoice:
    return FilingChoice(f"q{number}", company or str(number % 10), (*others, gold), (frozenset([len(others)]),))


def test_weights_with_data_are_learned_and_others_keep_their_prior() -> None:
    choices = [choice(n, cover("year_after"), cover("year_by_end")) for n in range(200)]
    assert found_at(choices[0], PRIOR, 1) == 0
    weights = fit_filing_match(choices, PRIOR, l2=0.1)
    assert found_at(choices[0], weights, 1) == 1
    moved = {name for name in WEIGHTS if abs(weights[name] - PRIOR[name]) > 1e-4}
    assert moved == {"year_after", "year_by_end", "form_share"}


def test_no_question_moves_a_relation_across_the_match() -> None:
    choices = [choice(n, cover("quarter_of_year"), cover("year_after")) for n in range(200)]
    weights = fit_filing_match(choices, PRIOR, l2=0.0)
    assert weights["quarter_of_year"] < PERIOD_MATCH <= weights["year_after"]
    assert all(0 <= weight <= 1 for weight in weights.values())


def test_a_stronger_penalty_stays_nearer_to_the_prior() -> None:
    choices = [choice(n, cover("own_year", amendment=n % 4 > 0), cover("own_year")) for n in range(40)]
    weak, strong = (fit_filing_match(choices, PRIOR, l2)["amendment"] for l2 in (0.01, 100.0))
    assert weak > strong >= PRIOR["amendment"] - 1e-6


def test_each_company_is_tested_by_weights_of_others() -> None:
    usual = [choice(n, cover("own_year"), cover("year_after")) for n in range(20)]
    odd = [choice(n, cover("year_by_end"), cover("fourth_quarter_by_end"), company="odd") for n in range(20, 40)]
    against = [choice(n, cover("fourth_quarter_by_end"), cover("year_by_end")) for n in range(40, 200)]
    found = held_out([*usual, *odd, *against], PRIOR, 0.1, (1, 2))
    assert len(found[1]) == len(found[2]) == 200
    assert sum(fitted for fitted, _ in found[1]) == 180  # all but the odd company's, whose questions were not seen
    assert sum(prior for _, prior in found[1]) == 40


def test_ties_are_broken_at_random() -> None:
    same = FilingChoice("q", "g", (cover("own_year"),) * 4 + (cover(None),), (frozenset([1]),))
    assert [found_at(same, PRIOR, k) for k in (1, 2, 4)] == [0.25, 0.5, 1.0]
    either = FilingChoice("q", "g", (cover("own_year"),) * 4, (frozenset([1, 2]), frozenset([3])))
    assert found_at(either, PRIOR, 1) == pytest.approx((0.5 + 0.25) / 2)


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    two = CoverRelations(
        (PeriodRelation("own_year", "why"), PeriodRelation(None, earlier=True)), "form_asked", True, False
    )
    choices = [choice(1, two, cover("own_year")), choice(2, cover(None), two)]
    save_filing_choices(path, choices)
    assert load_filing_choices(path) == choices


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04junk"])
def test_another_file_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.npz"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="create it again"):
        load_filing_choices(path)
    np.savez_compressed(path, feature_names=np.asarray(["dense"]))
    with pytest.raises(UsageError, match="create it again"):
        load_filing_choices(path)


def test_the_shipped_weights_are_those_of_the_shipped_data() -> None:
    from finray.lab.training import retrieval

    data = Path(retrieval.__file__).parent / "filing_match_data.npz"
    weights = fit_filing_match(load_filing_choices(data), PRIOR, l2=10.0)
    assert weights == pytest.approx(dict(shipped_filing_match().weights), abs=0.002)


def test_the_command(
    sample_folder: Path, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    preset = tmp_path / "hash.toml"
    preset.write_text('[encoder]\nmodel = "hash"\n', encoding="utf-8")
    files = ["--data", str(tmp_path / "data.npz"), "--out", str(tmp_path / "weights.json"), "--json"]
    sources = ["--questions", str(sample_folder / "questions.jsonl"), "--index", sample_index, "--preset", str(preset)]
    printed = []
    for arguments in ([*sources, *files], files):
        monkeypatch.setattr("sys.argv", ["finray", "train", "filing-match", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1]  # the data file is all that the fit needs
    assert printed[0]["choices"] > 20
    assert set(json.loads((tmp_path / "weights.json").read_text(encoding="utf-8"))["weights"]) == set(WEIGHTS)

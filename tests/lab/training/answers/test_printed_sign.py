"""Learning what parentheses mean from filings with inline XBRL."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from finray.answering.cells.printed_sign import CONSTANT, SignedRow, read_sign_model
from finray.cli import app
from finray.core.errors import UsageError
from finray.core.settings import load_settings
from finray.lab.sample.generate import generate_sample
from finray.lab.training.answers.printed_sign import SignExample, fit_signs, held_out, sign_examples


def example(company: str, label: str, positive: float) -> SignExample:
    return SignExample(company, SignedRow(label, None, False, False), positive)


EXAMPLES = [
    each
    for company in "abcde"
    for each in (
        example(company, "Less discount", 1.0),
        example(company, "Deficit", 0.0),
        example(company, company, 1.0),
    )
]


def test_words_of_several_companies_are_learned_and_tell_the_sign_elsewhere() -> None:
    model = fit_signs(EXAMPLES, l2=0.1)
    assert model.weights["word deficit"] < -1 < 0 < model.weights["word discount"]
    assert CONSTANT in model.weights and "word a" not in model.weights
    assert all(held_out(EXAMPLES, l2=0.1))


def test_without_examples_there_is_nothing_to_learn() -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        fit_signs([], l2=1.0)


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tagged")
    generate_sample(folder, companies=3, years=1, formats=("html",))
    return folder


def test_rows_are_learned_from_the_tags_of_filings(tagged: Path) -> None:
    files = sorted(tagged.rglob("*.htm*"))
    contents = [(str(file), file.read_bytes()) for file in files]
    found = list(sign_examples([*contents, ("notes.txt", b"no filing")], load_settings().filings))
    assert len({each.company for each in found}) == 3
    assert len(set(found)) == len({(each.company, each.row) for each in found})
    asked = {each.row.asked for each in found}
    assert "" in asked and any(" " in words for words in asked), "each row with the words of its tag, and without"


def test_the_command_writes_a_model_that_can_be_read(tagged: Path, tmp_path: Path) -> None:
    out = tmp_path / "signs.json"
    result = CliRunner().invoke(app, ["train", "printed-sign", str(tagged), "--out", str(out)], catch_exceptions=False)
    assert "sign right on held-out companies" in result.output
    assert CONSTANT in read_sign_model(out.read_text("utf-8")).weights
    with pytest.raises(UsageError, match=r"none\.html"):
        CliRunner().invoke(app, ["train", "printed-sign", str(tmp_path / "none.html")], catch_exceptions=False)

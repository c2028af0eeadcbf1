"""How well a cell prints a phrase, and that fitting finds the same scores in arrays."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from finray.answering.cells.cell_words import Rarity
from finray.answering.cells.row_match import Matcher, best_score
from finray.answering.cells.row_weights import (
    WEIGHTS,
    combined,
    fitted_row_weights,
    row_weights,
    shipped_row_weights,
    weigh,
)
from finray.core.filing import LineItem
from finray.core.plan import Phrase
from finray.question.measures.phrase import phrase_of


def item(label: str, row: int, **changes: object) -> LineItem:
    return replace(
        LineItem(3, None, label, 10.0 + row, "10", "USD", 1, dt.date(2024, 12, 31), 12, row=row),
        **changes,  # type: ignore[arg-type]
    )


ROWS = [
    item("Federal", 1, section="Current:", caption="The provision for income taxes"),
    item("Federal", 2, section="Deferred:", caption="The provision for income taxes"),
    item("Operating income", 3, statement="income", concept="us-gaap:OperatingIncomeLoss"),
    item("Operating income", 4, column_label="Europe", concept="us-gaap:OperatingIncomeLoss"),
    item("Proceeds, net of issuance costs", 5),
    item("Increase in inventories", 6, concept="us-gaap:IncreaseDecreaseInInventories"),
    item("Total", 7, caption="Operating lease cost", months=None),
    item("Balance at end of year", 8, caption="Unrecognized tax benefits"),
]


def asked(text: str) -> Phrase:
    phrase = phrase_of(text)
    assert phrase is not None
    return phrase


def best(text: str) -> LineItem:
    matcher = Matcher(asked(text), Rarity(ROWS))
    return max(ROWS, key=lambda row: matcher.fit(row).score)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("current federal income tax provision", 1),
        ("deferred federal income tax provision", 2),
        ("operating income", 3),
        ("operating income of Europe", 4),
        ("proceeds", 5),
        ("unrecognized tax benefits", 8),
        ("operating lease cost", 7),
    ],
)
def test_the_row_that_prints_the_phrase_fits_best(text: str, row: int) -> None:
    assert best(text).row == row


def test_the_score_never_exceeds_the_share_of_words_found() -> None:
    for text in ("deferred federal income tax", "issuance costs", "total operating lease cost of Europe"):
        matcher = Matcher(asked(text), Rarity(ROWS))
        for row in ROWS:
            fit = matcher.fit(row)
            assert 0 <= fit.score <= 1
            assert 0 <= fit.coverage <= 1


def test_the_best_reading_is_the_fit() -> None:
    weights = shipped_row_weights()
    matcher = Matcher(asked("operating income of Europe"), Rarity(ROWS))
    for row in ROWS:
        plain, tagged = (
            max((weigh(reading, weights) for reading in readings), default=None) for readings in matcher.readings(row)
        )
        if plain is not None and tagged is not None:
            assert matcher.fit(row).score == pytest.approx(combined(plain, tagged, weights).score)


def test_the_best_of_several_phrases_is_found_without_comparing_each() -> None:
    rarity = Rarity(ROWS)
    matchers = [Matcher(asked(text), rarity) for text in ("operating income of Europe", "income", "cost of sales")]
    for row in ROWS:
        assert best_score(matchers, row, rarity.around(row)) == max(matcher.fit(row).score for matcher in matchers)
    assert best_score([], ROWS[0], rarity.around(ROWS[0])) == 0.0


def test_every_weight_has_a_name_a_value_by_hand_and_a_fitted_one() -> None:
    fitted = fitted_row_weights()
    assert list(asdict(row_weights(fitted.weights))) == list(WEIGHTS)
    assert set(fitted.prior) == set(fitted.weights) == set(WEIGHTS)


FITS = """
from finray.answering.cells.cell_words import Rarity
from finray.answering.cells.row_match import Matcher
from tests.answering.cells.test_row_match import asked, item

words = "wastewater allowance borrowed funds used construction equity pension plant customer regulated deposits".split()
rows = [item(" ".join(words[: n + 1] + [f"other{n}"]), n) for n in range(len(words))]
matcher = Matcher(asked(" ".join(words)), Rarity(rows))
print([matcher.fit(row).score for row in rows])
"""


@pytest.mark.slow
def test_every_process_gives_the_same_digits() -> None:
    """The order of a set of words differs between processes; stored fits must not."""
    fits = {
        subprocess.run(
            [sys.executable, "-c", FITS],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(fits) == 1

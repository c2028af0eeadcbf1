"""Filings that report in another currency than dollars."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable

import pytest

from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.engine import open_engine
from finray.index import layout, schema
from finray.index.reading.reader import IndexReader


@pytest.fixture(scope="module")
def ask(
    sample_index: str, local_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Prediction]:
    """Over the sample, with Grevandor Systems reporting in euros and Caldavale Outfitters in dollars."""
    uri = str(shutil.copytree(sample_index, tmp_path_factory.mktemp("euros") / "index"))
    ids = [f.filing_id for f in IndexReader.open(uri, local_settings).filings() if "Grevandor" in f.company.title()]
    facts = layout.open_table(uri, schema.FACTS)
    own = f"filing_id IN ({schema.literals(ids)})"
    for unit in ("USD", "USD/share"):
        facts.update({"unit": f"'{unit.replace('USD', 'EUR')}'"}, where=f"{own} AND unit = '{unit}'")
    engine = open_engine(uri, local_settings)
    return lambda question: asyncio.run(engine.answer(Question("q", question)))


def test_amounts_carry_the_currency_of_the_filing(ask: Callable[[str], Prediction]) -> None:
    prediction = ask("What was Grevandor Systems' revenue in fiscal 2022?")
    assert (prediction.answer, prediction.value, prediction.unit) == (
        "€1,408.7 million (Grevandor Systems, Inc., FY2022)",
        1_408_729_000,
        "EUR",
    )
    change = ask("By how much did Grevandor Systems' revenue change from fiscal 2021 to fiscal 2022?")
    assert "€" in change.answer
    assert "$" not in change.answer


def test_amounts_in_two_currencies_are_not_computed_with(ask: Callable[[str], Prediction]) -> None:
    prediction = ask("Which had the higher revenue in fiscal 2022, Grevandor Systems or Caldavale Outfitters?")
    assert prediction.status == "unanswerable"
    assert "in one currency: they are in EUR, USD" in prediction.answer

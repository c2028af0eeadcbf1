"""Which company and form a filing's name stands for."""

from __future__ import annotations

from finray.core.filing import Filing
from finray.core.passages import Document
from finray.core.predictions import Prediction
from finray.lab.evaluation.known_filings import KnownFilings


def filing(name: str, company: str, form: str = "10-K", cik: str | None = None) -> Filing:
    return Filing(f"id-{name}", name, "", "", company, form, cik=cik)


def test_a_company_has_one_name_whatever_its_filings_called_it() -> None:
    known = KnownFilings([filing("a-2015", "Old Name Corp.", cik="7"), filing("a-2020", "New Name Inc.", cik="7")])
    assert known.company("a-2015") == known.company("a-2020") == known.company("id-a-2015")


def test_look_alikes_stay_apart() -> None:
    known = KnownFilings([filing("a", "Acme Inc.", cik="1"), filing("b", "Acme Inc.", cik="2")])
    other = KnownFilings([filing("a", "Acme Inc."), filing("b", "Bolt Inc.")])
    assert other.company("a") == "Acme Inc."
    assert other.company("b") == "Bolt Inc."
    assert known.company("a") == known.company("b") == "Acme Inc."  # their name is the same, and that is what is shown


def test_form_and_filing_by_name_and_id() -> None:
    known = KnownFilings([filing("a", "Acme Inc.", "10-Q")])
    assert known.form("a") == known.form("id-a") == "10-Q"
    assert known.filing("id-a") == known.filing("a")


def test_what_nobody_describes_is_unknown() -> None:
    known = KnownFilings([filing("a", "", "")])
    for name in ("a", "nowhere"):
        assert known.company(name) is None
        assert known.form(name) is None


def test_predictions_describe_what_they_retrieved() -> None:
    prediction = Prediction("q", "x", "y", "answered", documents=(Document(filing("a", "Acme Inc."), 1.0).ref,))
    known = KnownFilings.of_predictions([prediction, Prediction("r", "x", "", "error")])
    assert known.company("a") == "Acme Inc."
    assert known.company("b") is None

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from finray.core.errors import EdgarUnavailableError, SourceError, UsageError
from finray.edgar.listing import Listed
from finray.edgar.selection import Selection, parse_forms, read_companies, read_company_tickers

DAY = dt.date(2024, 2, 1)
FILING = Listed("0000320193-24-000001", "10-K", "APPLE INC", ("0000320193",), DAY, DAY, "")


def selection(forms: str = "10-K", ciks: frozenset[str] | None = None) -> Selection:
    return Selection(DAY, DAY, parse_forms(forms), ciks)


def test_a_form_includes_its_amendments_only() -> None:
    def wanted(forms: str) -> set[str]:
        filings = [
            replace(FILING, form=form) for form in ("10-K", "10-K/A", "8-K/A", "10-KT", "10-K405", "10-Q", "8-K12B")
        ]
        return {filing.form for filing in filings if selection(forms).wants(filing)}

    assert wanted("10-k, 8-K") == {"10-K", "10-K/A", "8-K/A"}
    assert wanted("10-K/A") == {"10-K/A"}


def test_a_joint_filing_is_wanted_for_any_of_its_companies() -> None:
    joint = replace(FILING, ciks=("0000000001", "0000000002"))
    assert selection(ciks=frozenset({"0000000002"})).wants(joint)
    assert not selection(ciks=frozenset({"0000000003"})).wants(joint)


def test_the_key_of_a_selection_ignores_dates() -> None:
    assert selection().key() == replace(selection(), until=DAY + dt.timedelta(days=9)).key()
    assert selection().key() != selection("10-K,8-K").key()
    assert selection().key() != selection(ciks=frozenset({"0000000001"})).key()


@pytest.mark.parametrize(
    ("text", "kind", "ciks", "tickers"),
    [
        ("AAPL\n# comment\n\nbrk.b\n", "tickers", set(), {"AAPL", "BRK-B"}),
        ("320193 # Apple\n0000789019\n", "ciks", {"0000320193", "0000789019"}, set()),
        ("Symbol,Security,GICS Sector,CIK\nAAPL,Apple,IT,320193\nMSFT,Microsoft,IT,789019\n", "tickers",
         {"0000320193", "0000789019"}, set()),
        ("Symbol,Security,CIK\nAAPL,Apple,320193\nNEW,\"New, Inc.\",\n", "tickers", {"0000320193"}, {"NEW"}),
        ("\ufeffTicker\nAAPL\n", "tickers", set(), {"AAPL"}),
    ],
)  # fmt: skip
def test_lists_of_companies(tmp_path: Path, text: str, kind: str, ciks: set[str], tickers: set[str]) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text, encoding="utf-8")
    companies = read_companies(str(path), kind)
    assert set(companies.ciks) == ciks
    assert set(companies.tickers) == tickers


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        ("", "tickers", "lists no company"),
        ("# nothing\n", "ciks", "lists no company"),
        ("AAPL\n", "ciks", "'AAPL' is no CIK"),
        ("Symbol,CIK\nAAPL,twelve\n", "tickers", "entry 2: 'twelve' is no CIK"),
        ("Symbol,Security\n,Apple\n", "tickers", "entry 2: no company"),
        ("Symbol,Security\n", "tickers", "lists no company"),
    ],
)
def test_the_error_names_a_line_that_is_not_a_company(tmp_path: Path, text: str, kind: str, problem: str) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=problem):
        read_companies(str(path), kind)


def test_a_missing_list(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        read_companies(str(tmp_path / "none.txt"), "tickers")


def test_edgars_tickers() -> None:
    found = read_company_tickers(b'{"0":{"cik_str":320193,"ticker":"AAPL","title":"Apple Inc."}}')
    assert found == {"AAPL": "0000320193"}
    for content in (b"<html></html>", b"[]", b'{"0": {"ticker": "AAPL"}}'):
        with pytest.raises(EdgarUnavailableError):
            read_company_tickers(content)

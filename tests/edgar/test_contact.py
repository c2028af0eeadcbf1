from __future__ import annotations

import pytest

from finray.core.errors import SettingsError
from finray.edgar.contact import check_pace, checked_contact


@pytest.mark.parametrize(
    ("contact", "problem"),
    [
        ("", "not set"),
        ("   ", "not set"),
        ("Acme Research", "no e-mail"),
        ("filings@acme-research.org", "no company"),
        ("Sample Company filings@example.com", "placeholder"),
        ("Your Company you@yourcompany.com", "placeholder"),
        ("<company> <filings@acme-research.org>", "placeholder"),
        ("Acme Research\x07 filings@acme-research.org", "request header"),
        ("Acmé Research filings@acme-research.org", "request header"),
        ("Acme " * 60 + "filings@acme-research.org", "request header"),
    ],
)
def test_an_incomplete_contact_is_refused(contact: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem) as raised:
        checked_contact(contact)
    assert "FINRAY_EDGAR__CONTACT" in str(raised.value)


def test_a_complete_contact_is_sent_as_it_is() -> None:
    assert checked_contact(" Acme  Research filings@acme-research.org ") == "Acme Research filings@acme-research.org"


def test_secs_limit_applies_to_sec_only() -> None:
    check_pace(8, None)
    check_pace(500, "http://127.0.0.1:8088")
    for base_url in (None, "", "https://www.sec.gov"):
        with pytest.raises(SettingsError, match="SEC allows 10"):
            check_pace(12, base_url)

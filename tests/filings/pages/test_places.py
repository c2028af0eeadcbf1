"""The cover, the contents, signatures and exhibits of a report."""

from __future__ import annotations

from finray.core.filing import Statement
from finray.filings.pages.places import label_places

COVER = "FORM 10-K\nCommission file number 1-234\n(Exact name of registrant as specified in its charter)"
CONTENTS = "TABLE OF CONTENTS\n" + "\n".join(f"Item {n}. Something {n}" for n in range(1, 10))
TEXT = "We make robots. " * 40
SIGNATURES = (
    "SIGNATURES\nPursuant to the requirements of Section 13 or 15(d) of the Securities Exchange Act of 1934, the "
    "registrant has duly caused this report to be signed on its behalf"
)
INCOME = "CONSOLIDATED STATEMENTS OF INCOME"
SUBSIDIARIES = "EXHIBIT 21\nSUBSIDIARIES OF ACME"


def places(form: str, *pages: tuple[str, Statement | None]) -> list[str | None]:
    return list(label_places([text for text, _ in pages], [statement for _, statement in pages], form))


def test_what_follows_the_signatures_is_an_exhibit() -> None:
    assert places(
        "10-K", (COVER, None), (CONTENTS, None), (TEXT, None), (INCOME, "income"), (SIGNATURES, None), (TEXT, None)
    ) == ["cover", "contents", None, None, "signatures", "exhibit"]


def test_a_statement_with_dot_leaders_is_not_a_table_of_contents() -> None:
    rows = "\n".join(f"Row {n} ...................... {n}" for n in range(20))
    assert places("10-Q", (COVER, None), (f"Table of Contents\n{INCOME}\n{rows}", "income")) == ["cover", None]


def test_statements_behind_the_signatures_are_not_exhibits() -> None:
    assert places(
        "10-K", (COVER, None), (SIGNATURES, None), (TEXT, None), (INCOME, "income"), (TEXT, None), (SUBSIDIARIES, None)
    ) == ["cover", "signatures", None, None, None, "exhibit"]


def test_the_exhibit_of_a_current_report_is_what_it_reports() -> None:
    assert places("8-K", (COVER, None), (SIGNATURES, None), (TEXT, None)) == ["cover", "signatures", None]


def test_no_pages_no_places() -> None:
    assert places("10-K") == []

"""Which pages print the primary statements."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.filings.tables.statements import label_statements, table_statement

INCOME = """Sample Corp
CONSOLIDATED STATEMENTS OF OPERATIONS
(in millions, except per share data)
Year Ended December 31,
2022 2021
Net sales
$ 1,200
$ 1,100
Cost of sales
700
650
Gross profit
500
450
Selling, general and administrative
200
190
Operating income
300
260
Interest expense
(20)
(18)
Income before income taxes
280
242
Provision for income taxes
60
50
Net income
$ 220
$ 192
Diluted earnings per share
$ 2.20
$ 1.92
"""
BALANCE = """Sample Corp
CONSOLIDATED BALANCE SHEETS
(in millions)
December 31,
2022
2021
Current assets:
Cash and cash equivalents
100
90
Accounts receivable
80
70
Inventories
60
50
Total current assets
240
210
Goodwill
300
300
Total assets
$ 900
$ 850
Accounts payable
70
60
Total current liabilities
150
140
Long-term debt
200
210
Retained earnings
400
350
Total liabilities and stockholders' equity
$ 900
$ 850
"""
CASH_FLOW = """Sample Corp
CONSOLIDATED STATEMENTS OF CASH FLOWS
Year Ended December 31,
2022
2021
Operating activities:
Net income
220
192
Adjustments to reconcile net income to net cash provided by operating activities:
Depreciation and amortization
40
38
Stock-based compensation
12
10
Net cash provided by operating activities
270
240
Investing activities:
Purchases of property and equipment
(50)
(45)
Net cash used in investing activities
(50)
(45)
Financing activities:
Dividends paid
(60)
(55)
Net cash used in financing activities
(60)
(55)
Net increase in cash
10
5
"""
PROSE = "The accompanying consolidated statements of operations were prepared as management saw fit. " * 20
CONTENTS = "\n".join(
    [
        "INDEX TO CONSOLIDATED FINANCIAL STATEMENTS",
        "Consolidated Statements of Operations",
        "61",
        "Consolidated Balance Sheets",
        "62",
        "Consolidated Statements of Cash Flows",
        "63",
        "Consolidated Statements of Stockholders' Equity",
        "64",
    ]
    + [f"Note {n} on something {60 + n}" for n in range(1, 20)]
)


def test_statements_are_found_where_they_stand_together() -> None:
    pages = [PROSE, CONTENTS, PROSE, INCOME, BALANCE, CASH_FLOW, PROSE]
    assert label_statements(pages) == [None, None, None, "income", "balance", "cash_flow", None]


def test_parent_only_statements_are_not_the_primary_ones() -> None:
    parent = [
        f"Schedule I\nCONDENSED FINANCIAL INFORMATION OF REGISTRANT\nPARENT COMPANY\n{page}"
        for page in (INCOME, BALANCE, CASH_FLOW)
    ]
    labels = label_statements([INCOME, BALANCE, CASH_FLOW, *[PROSE] * 20, *parent])
    assert labels[:3] == ["income", "balance", "cash_flow"]
    assert set(labels[3:]) == {None}


def test_audited_year_wins_over_quarters_printed_before_it() -> None:
    quarters = [page.replace("CONSOLIDATED", "CONDENSED CONSOLIDATED") for page in (INCOME, BALANCE, CASH_FLOW)]
    labels = label_statements([*quarters, *[PROSE] * 20, INCOME, BALANCE, CASH_FLOW])
    assert labels[-3:] == ["income", "balance", "cash_flow"]
    assert set(labels[:3]) == {None}


def test_income_and_comprehensive_income_on_one_page_is_income() -> None:
    title = "CONSOLIDATED STATEMENTS OF OPERATIONS AND COMPREHENSIVE INCOME"
    combined = INCOME.replace("CONSOLIDATED STATEMENTS OF OPERATIONS", title) + "Comprehensive income\n220\n192\n"
    assert label_statements([combined, BALANCE, CASH_FLOW])[0] == "income"


def test_balance_sheet_over_two_pages_labels_both() -> None:
    first, second = BALANCE.split("Accounts payable")
    second = "CONSOLIDATED BALANCE SHEETS (continued)\nDecember 31, 2022 2021\nAccounts payable" + second
    filler = "Deferred income taxes\n10\n12\nCommon stock\n1\n1\nAccumulated other comprehensive loss\n(5)\n(4)\n"
    labels = label_statements([INCOME, first, second + filler, CASH_FLOW])
    assert labels == ["income", "balance", "balance", "cash_flow"]


def test_title_broken_by_the_pdf_still_counts() -> None:
    broken = INCOME.replace("CONSOLIDATED STATEMENTS OF OPERATIONS", "Consolidated Statem ents of Operations")
    assert label_statements([broken, BALANCE, CASH_FLOW])[0] == "income"


def test_discussion_without_statements_has_none() -> None:
    assert label_statements([PROSE, CONTENTS]) == [None, None]
    assert label_statements([]) == []


def test_one_table_among_several_on_a_page() -> None:
    rows = [line for line in BALANCE.split("\n") if not line[:1].isdigit()]
    assert table_statement(rows, "cash_flow") == "balance"
    assert table_statement(["Basic", "Diluted"], "income") == "income"


@given(st.lists(st.text(max_size=400), max_size=6))
def test_any_text_gets_one_label_a_page(texts: list[str]) -> None:
    assert len(label_statements(texts)) == len(texts)

from __future__ import annotations

import pytest

from finray.filings.cover.report_signs import is_report
from finray.filings.tables.statements import label_statements

INCOME = """Consolidated Statements of Income
Net sales 1,234 1,100
Cost of goods sold 734 650
Gross profit 500 450
Selling, general and administrative 210 190
Income before taxes 290 260
Provision for income taxes 61 55
Net income 229 205
Diluted earnings per share 1.10 1.00
"""
BALANCE = """Consolidated Balance Sheets
Cash and cash equivalents 50 45
Accounts receivable 120 110
Total current assets 300 280
Total assets 900 850
Accounts payable 80 70
Total current liabilities 200 190
Total liabilities 400 390
Retained earnings 300 280
"""
ITEMS = "Item 1. Business\nWe make widgets.\n", "Item 1A. Risk Factors\nFire.\n", "Item 7. Management's Discussion\n"
CURRENT = "Item 2.02 Results of Operations and Financial Condition\nOn May 3 the company announced its results.\n"
LETTER = "Dear stockholders, our annual report for the fiscal year speaks of the registrant and its shareholders. " * 2
CHAPTER = "Chapter 4. A firm's annual report closes its fiscal year; net income is what is left.\n" + "word " * 300


@pytest.mark.parametrize("texts", [[INCOME, BALANCE], [*ITEMS], [CURRENT], [LETTER]])
def test_reports(texts: list[str]) -> None:
    assert is_report(texts, label_statements(texts))


@pytest.mark.parametrize(
    "texts",
    [
        ["INVOICE 17\nTo Acme Widgets, Inc.\n3 lanterns at $20.00\nTotal due $60.00 by the annual meeting.\n"],
        [CHAPTER] * 150 + [INCOME, BALANCE] + [CHAPTER] * 150,
        [""],
        ["It was the best of times, it was the worst of times."] * 40,
    ],
    ids=["invoice", "textbook", "empty", "novel"],
)
def test_other_documents(texts: list[str]) -> None:
    assert not is_report(texts, label_statements(texts))

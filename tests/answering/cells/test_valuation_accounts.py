import datetime as dt

import pytest

from finray.answering.cells.valuation_accounts import asks_for_valuation, is_valuation_account
from finray.core.filing import LineItem
from finray.question.synonyms import words_of

END = dt.date(2024, 12, 31)


@pytest.mark.parametrize(
    ("label", "section", "column", "caption", "expected"),
    [
        ("2024", "Revenue Based Provisions", "Balance at End of Period", None, True),
        ("Inventories", None, "Deductions", "Schedule II - Valuation and Qualifying Accounts", True),
        ("Inventories", None, "Balance at End of Period", None, False),
        ("Allowance for credit losses", None, None, None, False),
        ("Finished goods", "Inventories", None, None, False),
    ],
)
def test_allowances_carried_forward_are_recognized(
    label: str, section: str | None, column: str | None, caption: str | None, expected: bool
) -> None:
    item = LineItem(0, None, label, 1.0, "1", "USD", 1, END, 12, section, column_label=column, caption=caption)
    assert is_valuation_account(item) is expected


def test_only_questions_that_name_an_allowance_ask_for_one() -> None:
    assert asks_for_valuation(words_of("What was the allowance for inventory losses?"))
    assert asks_for_valuation(words_of("How much inventory was written off? The reserves"))
    assert not asks_for_valuation(words_of("What was the inventory at the end of 2024?"))

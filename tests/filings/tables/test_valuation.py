from finray.core.filing import LineItem
from finray.filings.tables.valuation import titled_valuation

PAGE = "Schedule II\nLANYON TOOLS, INC.\nValuation and Qualifying Accounts and Reserves\n(In millions)\n"


def item(label: str, row: int, column_label: str | None = None, section: str | None = None) -> LineItem:
    return LineItem(
        0, None, label, 1.0, "1", "USD", 1, None, None, section, row, column_label=column_label, caption="(In millions)"
    )


def test_balances_carried_forward_have_the_title_of_the_schedule() -> None:
    items = [
        item("Inventories", 1, "Balance at end of year"),
        item("Inventories", 1, "Other"),
        item("Balance at end of year", 5, None, "Accounts receivable"),
        item("Currency", 6, None, "Accounts receivable"),
        item("Number of employees", 9),
    ]
    captions = [found.caption for found in titled_valuation(items, PAGE)]
    assert captions == ["Valuation and qualifying accounts: (In millions)"] * 4 + ["(In millions)"]
    assert titled_valuation(items, "Inventories\n(In millions)\n") == items

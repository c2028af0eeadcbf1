from finray.core.tables import Cell, Column, Row, Table
from finray.filings.tables.valuation import titled_valuation

PAGE = "Schedule II\nLANYON TOOLS, INC.\nValuation and Qualifying Accounts and Reserves\n(In millions)\n"


def table(*labels: str, head: str | None = None) -> Table:
    cells = (Cell(1, "1", value=1.0, unit="USD", scale=1),)
    rows = tuple(Row(0, number, label, cells) for number, label in enumerate(labels))
    columns = (Column(1, (head or "",), head),)
    return Table(0, 0, 0, "", "(In millions)", None, None, "USD", 1, columns, rows)


def test_balances_carried_forward_have_the_title_of_the_schedule() -> None:
    tables = [
        table("Inventories", head="Balance at end of year"),
        table("Balance at end of year", "Currency"),
        table("Number of employees"),
    ]
    captions = [found.caption for found in titled_valuation(tables, PAGE)]
    assert captions == ["Valuation and qualifying accounts: (In millions)"] * 2 + ["(In millions)"]
    assert titled_valuation(tables, "Inventories\n(In millions)\n") == tables

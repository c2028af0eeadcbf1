import datetime as dt
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import LineItem, ParsedFiling
from finray.core.settings import FilingSettings
from finray.filings.read import parse_filing
from finray.filings.typed_tables import typed_grids

COVER = """                       SECURITIES AND EXCHANGE COMMISSION
                             WASHINGTON, D.C. 20549
                                   FORM 10-K
(X) ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE
    ACT OF 1934
    FOR THE FISCAL YEAR ENDED DECEMBER 28, 1996
                             CORLISS TAPE CORP
             (Exact name of registrant as specified in its charter)
<PAGE>
                             CORLISS TAPE CORP
                     CONSOLIDATED STATEMENTS OF OPERATIONS
"""
SCALE = "                    (In thousands, except per share amounts)\n"
ROWS = [
    ("Net sales", "$148,913", "$120,114", "$98,311"),
    ("Cost of sales", "101,202", "80,909", "66,020"),
    ("RULE", "-", "-", "-"),
    ("  Gross profit", "47,711", "39,205", "32,291"),
    ("Research and development", "12,004", "10,101", "8,007"),
    ("Restructuring charge", "--", "1,200", "--"),
    ("Loss from operations", "(3,402)", "9,120", "7,114"),
    ("Provision (benefit) for income\n  taxes", "(1,120)", "3,010", "2,401"),
    ("RULE", "-", "-", "-"),
    ("Net income (loss)", "$(2,411)", "$6,004", "$4,902"),
    ("RULE", "=", "=", "="),
    ("Net income (loss) per share", "$(.21)", "$.52", "$.44"),
]
HEADINGS: dict[str, list[str | tuple[str, ...]]] = {
    "spanner": ["YEARS ENDED DECEMBER 31,", ("1996", "1995", "1994")],
    "mixed": ["Years ended December 31,", ("1996", "1995", "1994")],
    "ruled": ["FISCAL YEAR ENDED", "-", ("DECEMBER 28,", "DECEMBER 30,", "DECEMBER 31,"), ("1996", "1995", "1994")],
    "bare": [("1996", "1995", "1994")],
    "whole": [("Dec. 28, 1996", "Dec. 30, 1995", "Dec. 31, 1994")],
    "lines": [("Year Ended",) * 3, ("Dec. 28,", "Dec. 30,", "Dec. 31,"), ("1996", "1995", "1994")],
    "fiscal": [("Fiscal 1996", "Fiscal 1995", "Fiscal 1994")],
    "weeks": [("52 weeks", "52 weeks", "52 weeks"), ("ended", "ended", "ended"), ("12/28/96", "12/30/95", "12/31/94")],
    "label": [("Year ended December 31", "1996", "1995", "1994")],
}  # fmt: skip


def typed(heading: str, leaders: str, *, rules: bool, tags: bool, dollars_apart: bool, width: int = 13) -> str:
    """A statement of operations in one of the layouts that filings of the 1990s have."""
    left = 36
    lines = []
    for head in HEADINGS[heading]:
        if head == "-":
            lines.append(" " * left + "-" * (3 * width - 2) if rules else "")
        elif isinstance(head, str):
            lines.append(" " * left + head.center(3 * width).rstrip())
        else:
            name, heads = (head[0], head[1:]) if len(head) == 4 else ("", head)
            lines.append(name.ljust(left) + "".join(cell.center(width) for cell in heads).rstrip())
    if tags:
        lines = ["<TABLE>", "<CAPTION>", *lines, "<S>".ljust(left + 2) + "<C>".ljust(width) * 3]
    for label, *cells in ROWS:
        if label == "RULE":
            lines += [" " * left + "".join((cell * (width - 3)).rjust(width) for cell in cells)] if rules else []
            continue
        *above, last = label.split("\n")
        last = last.ljust(left, ".") if leaders == "." else last + " ." * ((left - len(last)) // 2 - 1)
        if leaders == "":
            last = label.split("\n")[-1]
        if dollars_apart:
            cells = [f"$ {cell[1:].rjust(width - 3)}" if cell[0] == "$" else cell for cell in cells]
        lines += [*above, last.ljust(left) + "".join(cell.rjust(width) for cell in cells)]
    return COVER + SCALE + "\n".join([*lines, "</TABLE>" if tags else "", ""])


def read(text: str) -> ParsedFiling:
    return parse_filing(text.encode(), "corliss.txt", FilingSettings())


def found(parsed: ParsedFiling, label: str) -> list[LineItem]:
    return [item for item in parsed.line_items if item.label == label]


@pytest.mark.parametrize("heading", HEADINGS)
def test_statements_are_read_in_every_layout(heading: str) -> None:
    for leaders, rules, tags, apart in product(("", ".", " ."), (False, True), (False, True), (False, True)):
        text = typed(
            heading, leaders, rules=rules, tags=tags, dollars_apart=apart, width=15 if heading == "whole" else 13
        )
        parsed = read(text)
        assert parsed.pages[1].statement == "income", text
        sales = found(parsed, "Net sales")
        assert [item.value for item in sales] == [148_913_000, 120_114_000, 98_311_000], text
        assert [item.period_end.year for item in sales if item.period_end] == [1996, 1995, 1994], text
        assert {(item.unit, item.scale, item.months, item.statement) for item in sales} == {
            ("USD", 1000, 12, "income")
        }, text
        taxes = found(parsed, "Provision (benefit) for income taxes")
        assert [item.value for item in taxes] == [-1_120_000, 3_010_000, 2_401_000], text
        per_share = found(parsed, "Net income (loss) per share")
        assert [(item.value, item.unit) for item in per_share] == [
            (-0.21, "USD/share"), (0.52, "USD/share"), (0.44, "USD/share")
        ], text  # fmt: skip
        assert [item.value for item in found(parsed, "Restructuring charge")] == [0, 1_200_000, 0], text
        assert {item.column_label for item in parsed.line_items} == {None}, text
        assert {item.box for item in parsed.line_items} == {None}


BALANCE = (
    COVER.rpartition("<PAGE>")[0]
    + """<PAGE>   21
                       CORLISS TAPE CORP AND SUBSIDIARIES
                          CONSOLIDATED BALANCE SHEETS
                 (Dollars in thousands, except per share data)

                                                            December 31,
                                                        1996            1995
                                                      --------        --------
                          ASSETS

CURRENT ASSETS:
  Cash and cash equivalents . . . . . . . . . . .    $  4,310        $  5,020
  Accounts receivable, less allowance for
    doubtful accounts of $310 and $295. . . . . .      21,904          19,118
  Inventories (Note 3). . . . . . . . . . . . . .      18,400          17,733
                                                      -------         -------
       Total current assets . . . . . . . . . . .      44,614          41,871
  Less - Accumulated depreciation . . . . . . . .     (22,310)        (19,907)
OTHER ASSETS. . . . . . . . . . . . . . . . . . .       1,002             --
                                                     $ 76,236        $ 72,106
                                                      =======         =======

                   LIABILITIES AND SHAREHOLDERS' EQUITY

  Accounts payable. . . . . . . . . . . . . . . .    $  9,001        $  8,404
  Common stock, $.01 par value; 20,000,000
    shares authorized; 8,112,400 and 8,100,000
    shares issued . . . . . . . . . . . . . . . .          81              81
       Total shareholders' equity . . . . . . . .      45,235          39,702

                                      F-3
"""
)


def test_wrapped_labels_are_joined_and_headings_are_not() -> None:
    parsed = read(BALANCE)
    assert parsed.pages[1].statement == "balance"
    values = {item.label: item.value for item in parsed.line_items if item.column == 1}
    assert values == {
        "Cash and cash equivalents": 4_310_000,
        "Accounts receivable, less allowance for doubtful accounts of $310 and $295": 21_904_000,
        "Inventories (Note 3)": 18_400_000,
        "Total current assets": 44_614_000,
        "Less - Accumulated depreciation": -22_310_000,
        "OTHER ASSETS": 1_002_000,
        "Accounts payable": 9_001_000,
        "Common stock, $.01 par value; 20,000,000 shares authorized; 8,112,400 and 8,100,000 shares issued": 81_000,
        "Total shareholders' equity": 45_235_000,
    }
    assert {(item.period_end, item.months) for item in parsed.line_items} == {
        (dt.date(1996, 12, 31), 0), (dt.date(1995, 12, 31), 0)
    }  # fmt: skip


def test_a_page_may_have_tables_of_different_columns_and_scales() -> None:
    page = """SELECTED FINANCIAL DATA
<TABLE>
<CAPTION>
                                 1996         1995
                              ----------   ----------
                                   (in millions)
<S>                           <C>          <C>
Operating revenues            $    913.2   $    898.6
Net income <F1>                    201.9        199.4
Ratio of earnings to
  fixed charges                     3.9x         3.8x
<FN>
<F1> Includes a charge of $4.2 million in 1996.
</TABLE>
Net sales  for 1996  increased  7.8% to $913.2  million  compared  to
$898.6 million in 1995, as volume in the market was higher.

Segment information (in thousands):
                                 Electric        Gas       Corporate    Consolidated
1996
  Revenues                      $ 801,204   $ 112,003          --        $ 913,207
  Operating income                250,110      22,031          --          272,141
"""
    items = read(COVER.rpartition("<PAGE>")[0] + "<PAGE>\n" + page).line_items
    assert [(item.label, item.value) for item in items if item.column == 1] == [
        ("Operating revenues", 913_200_000),
        ("Net income", 201_900_000),
        ("Ratio of earnings to fixed charges", 3.9),
        ("Revenues", 801_204_000),
        ("Operating income", 250_110_000),
    ]
    revenues = [item for item in items if item.label == "Revenues"]
    assert [item.column_label for item in revenues] == ["Electric", "Gas", "Corporate", "Consolidated"]


def test_a_data_schedule_is_not_a_table() -> None:
    schedule = """<PAGE>
<ARTICLE> 5
<MULTIPLIER> 1,000
<S>                             <C>
<PERIOD-TYPE>                   YEAR
<TOTAL-ASSETS>                                  91,870
<SALES>                                        148,913
<NET-INCOME>                                   (2,411)
"""
    assert not read(COVER + schedule).line_items


def test_typed_text_inside_html_is_read() -> None:
    text = typed("spanner", ".", rules=True, tags=False, dollars_apart=True).replace("<PAGE>", "</PRE><HR><PAGE><PRE>")
    parsed = read(f"<HTML><BODY><PRE>{text}</PRE></BODY></HTML>")
    assert [item.value for item in found(parsed, "Net sales")] == [148_913_000, 120_114_000, 98_311_000]


@given(st.text(alphabet="ab 12.,$()-=\n\t<>/TABLESCI|", max_size=400))
def test_any_text_is_read(text: str) -> None:
    for grid in typed_grids(text, 3):
        assert grid.page == 3
        assert all(cell.box is None for row in grid.rows for cell in row)

"""Documents that are put together in unusual ways, from the file to the answer: tables that go on overleaf, reports of
several registrants, typed tables, exhibits with results, turned pages."""

from __future__ import annotations

from typing import Final

from tests.small_filings.made import Made, Sheet, document, page_html, sheet_html, typed_sheet

INCOME: Final = ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands, except per share amounts)")
FLOWS: Final = ("CONSOLIDATED STATEMENTS OF CASH FLOWS", "(In thousands)")
YEARS: Final = ("Year Ended December 31,*3", "2024 | 2023 | 2022")
TOP: Final = """
Cash flows from operating activities:
  Net income | 7,110 | 6,840 | 6,330
  Depreciation | 3,020 | 2,940 | 2,880
Net cash provided by operating activities | 10,440 | 9,910 | 9,350
"""
REST: Final = """
Cash flows from investing activities:
  Purchases of property and equipment | (4,120) | (3,980) | (3,610)
  Acquisitions, net of cash acquired | (1,200) | — | (2,440)
Net cash used in investing activities | (5,320) | (3,980) | (6,050)
Cash flows from financing activities:
  Repurchases of common stock | (2,010) | (1,830) | (1,110)
  Dividends paid | (1,440) | (1,390) | (1,310)
"""


def small(revenue: str, net: str, *more: str) -> str:
    return "\n".join([f"Revenues | {revenue}", *more, f"Net income | {net}"])


CONTINUED: Final = (
    Made(
        "Stroudwater Mills Inc",
        [Sheet(FLOWS, YEARS, TOP), Sheet((), (), REST)],
        [
            ("What were Stroudwater Mills' dividends paid in 2023?", 1_390e3),
            ("What were Stroudwater Mills' capital expenditures in 2022?", 3_610e3),
            ("What were Stroudwater Mills' repurchases of common stock in 2024?", 2_010e3),
            ("What were Stroudwater Mills' acquisitions, net of cash acquired, in 2023?", 0.0),
        ],
        style="wide",
    ),
    Made(
        "Thornbury Clay Corp",
        [
            Sheet(FLOWS, YEARS, TOP),
            Sheet(("CONSOLIDATED STATEMENTS OF CASH FLOWS (continued)", "(In thousands)"), YEARS, REST),
        ],
        [
            ("What were Thornbury Clay's dividends paid in 2022?", 1_310e3),
            ("What was Thornbury Clay's net cash used in investing activities in 2023?", -3_980e3),
        ],
        style="pdf",
    ),
    Made(
        "Ulceby Wire Inc",
        [
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(In millions)"),
                ("December 31, 2024 | December 31, 2023",),
                """
Cash and cash equivalents | 210 | 198
Inventories | 330 | 341
Total assets | 2,410 | 2,377
""",
            ),
            Sheet(
                (),
                (),
                """
Accounts payable | 188 | 176
Long-term debt | 702 | 733
Total liabilities | 1,330 | 1,352
Retained earnings | 910 | 866
Total stockholders' equity | 1,080 | 1,025
""",
            ),
        ],
        [
            ("What was Ulceby Wire's long-term debt at December 31, 2023?", 733e6),
            ("What was Ulceby Wire's accounts payable at December 31, 2024?", 188e6),
            ("What was Ulceby Wire's total stockholders' equity at December 31, 2023?", 1_025e6),
        ],
        style="pdf",
    ),
)

_PARENT = Sheet(
    ("VERYAN HOLDINGS INC. AND SUBSIDIARIES", "CONSOLIDATED STATEMENTS OF INCOME", "(in millions)"),
    YEARS,
    small("9,120 | 8,870 | 8,510", "812 | 790 | 744"),
)
_CHILD = Sheet(
    ("VERYAN ELECTRIC COMPANY", "STATEMENTS OF INCOME", "(in millions)"),
    YEARS,
    small("3,310 | 3,240 | 3,120", "330 | 318 | 301"),
)
REGISTRANTS: Final = (
    Made(
        "Veryan Holdings Inc.",
        [_CHILD, _PARENT],
        [
            ("What was Veryan Holdings' net income in 2024?", 812e6),
            ("What were Veryan Holdings' revenues in 2022?", 8_510e6),
            ("What was Veryan Electric Company's net income in 2024?", 330e6),
        ],
        style="pdf",
    ),
    Made(
        "Wiveliscombe Power Corp",
        [
            Sheet(
                ("WIVELISCOMBE POWER CORP", "CONSOLIDATED BALANCE SHEETS", "(Millions of Dollars)"),
                ("December 31, 2024 | December 31, 2023",),
                "Inventories | 512 | 498\nTotal assets | 20,110 | 19,402\nLong-term debt | 7,720 | 7,330",
            ),
            Sheet(
                ("WIVELISCOMBE GAS COMPANY AND SUBSIDIARY", "CONSOLIDATED BALANCE SHEETS", "(Millions of Dollars)"),
                ("December 31, 2024 | December 31, 2023",),
                "Inventories | 101 | 99\nTotal assets | 4,330 | 4,120\nLong-term debt | 1,210 | 1,190",
            ),
        ],
        [
            ("What were Wiveliscombe Power's total assets at December 31, 2024?", 20_110e6),
            ("What was Wiveliscombe Power's long-term debt at December 31, 2023?", 7_330e6),
            ("What were Wiveliscombe Gas Company's inventories at December 31, 2024?", 101e6),
        ],
        style="plain",
    ),
    Made(
        "Yarcombe Bancorp",
        [
            Sheet(
                ("YARCOMBE BANCORP AND SUBSIDIARIES", "CONSOLIDATED STATEMENTS OF INCOME", "(in thousands)"),
                YEARS,
                """
Total interest income | 88,100 | 84,020 | 70,330
Net interest income | 51,030 | 50,210 | 48,110
Net income | 21,010 | 20,400 | 19,980
""",
            ),
            Sheet(
                (
                    "Note 22. Parent Company Only Financial Information",
                    "CONDENSED STATEMENTS OF INCOME (PARENT COMPANY ONLY)",
                    "(in thousands)",
                ),
                YEARS,
                """
Dividends from bank subsidiary | 9,200 | 8,800 | 8,100
Total income | 9,410 | 8,990 | 8,250
Operating expenses | 1,020 | 990 | 940
Net income | 21,010 | 20,400 | 19,980
""",
            ),
        ],
        [
            ("What was Yarcombe Bancorp's net interest income in 2024?", 51_030e3),
            ("What was Yarcombe Bancorp's net income in 2023?", 20_400e3),
            ("What were the dividends from bank subsidiary of Yarcombe Bancorp in 2022?", 8_100e3),
        ],
    ),
)

TYPED: Final = (
    Made(
        "Zennor Tapes Corp",
        [
            Sheet(
                INCOME,
                ("Fiscal Year Ended June 30,*3", "1996 | 1995 | 1994"),
                """
Net sales | $ 41,210 | $ 38,990 | $ 36,020
Cost of goods sold | 24,010 | 22,870 | 21,330
Selling expenses | 9,110 | 8,640 | 8,010
Income before income taxes | 8,090 | 7,480 | 6,680
Net income | $ 5,010 | $ 4,640 | $ 4,140
Net income per share | $ 1.02 | $ .95 | $ .85
""",
            )
        ],
        [
            ("What were Zennor Tapes' net sales in fiscal 1996?", 41_210e3),
            ("What was Zennor Tapes' net income in fiscal 1994?", 4_140e3),
            ("What was Zennor Tapes' cost of goods sold in fiscal 1995?", 22_870e3),
            ("What was Zennor Tapes' net income per share in fiscal 1995?", 0.95),
        ],
        style="typed",
        covers="For the fiscal year ended June 30, 1996",
    ),
    Made(
        "Ashwater Hotels Inc",
        [
            typed_sheet(
                Sheet(
                    ("ASHWATER HOTELS INC", "CONSOLIDATED BALANCE SHEETS", "(Dollars in thousands)"),
                    ("December 31,*2", "2001 | 2000"),
                    """
ASSETS
Current assets:
  Cash and cash equivalents | $ 9,040 | $ 8,112
  Accounts receivable, less allowance
   of $410 and $388 | 5,210 | 5,004
  Inventories | -- | 212
Property and equipment, net | 101,330 | 98,770
Total assets | $ 121,900 | $ 118,220
""",
                ),
                tags=False,
            )
        ],
        [
            ("What was Ashwater Hotels' cash and cash equivalents at December 31, 2001?", 9_040e3),
            ("What were Ashwater Hotels' total assets at December 31, 2000?", 118_220e3),
            ("What were Ashwater Hotels' inventories at December 31, 2001?", 0.0),
            ("What was Ashwater Hotels' accounts receivable at December 31, 2001?", 5_210e3),
        ],
        style="typed",
        covers="For the fiscal year ended December 31, 2001",
    ),
    Made(
        "Brixworth Chemical Co",
        [
            typed_sheet(
                Sheet(
                    ("CONSOLIDATED STATEMENT OF CASH FLOWS", "(In millions)"),
                    ("2003 | 2002 | 2001",),
                    """
Net income | $ 310 | $ 288 | $ 241
Depreciation and amortization | 190 | 184 | 177
Net cash provided by operations | 540 | 511 | 466
Capital expenditures | (211) | (230) | (198)
Dividends paid | (88) | (82) | (80)
""",
                ),
                dots=False,
            )
        ],
        [
            ("What were Brixworth Chemical's capital expenditures in 2002?", 230e6),
            ("What were Brixworth Chemical's dividends paid in 2001?", 80e6),
            ("What was Brixworth Chemical's net income in 2003?", 310e6),
        ],
        style="typed",
        covers="For the fiscal year ended December 31, 2003",
    ),
)

_LANDSCAPE = """
Revenues | 81,200 | 79,110 | 76,040
Operating income | 9,010 | 8,870 | 8,420
Income tax expense | (2,010) | (1,940) | (1,810)
Net income | 6,120 | 5,990 | 5,640
"""
TURNED: Final = (
    Made(
        "Chacewater Pumps Inc",
        [Sheet(INCOME, YEARS, _LANDSCAPE, turned="text")],
        [
            ("What were Chacewater Pumps' revenues in 2024?", 81_200e3),
            ("What was Chacewater Pumps' net income in 2022?", 5_640e3),
        ],
        style="pdf",
    ),
    Made(
        "Drewsteignton Rope Corp",
        [Sheet(INCOME, YEARS, _LANDSCAPE, turned="page")],
        [
            ("What was Drewsteignton Rope's operating income in 2023?", 8_870e3),
            ("What was Drewsteignton Rope's net income in 2024?", 6_120e3),
        ],
        style="pdf",
    ),
    Made(
        "Erpingham Felt Co",
        [Sheet(INCOME, YEARS, _LANDSCAPE, doubled=True)],
        [
            ("What were Erpingham Felt's revenues in 2023?", 79_110e3),
            ("What was Erpingham Felt's operating income in 2024?", 9_010e3),
        ],
        style="pdf",
    ),
    Made(
        "Fovant Lace Inc",
        [Sheet(INCOME, YEARS, _LANDSCAPE, doubled=True, turned="text")],
        [("What was Fovant Lace's net income in 2023?", 5_990e3)],
        style="pdf",
    ),
)

_SEE_EXHIBIT = "<p><b>Item 8. Financial Statements and Supplementary "
"Data</b></p><p>The consolidated financial statements are incorporated "
"by reference to Exhibit 13.</p>"  # fmt: skip
_STATEMENT = Sheet(INCOME, YEARS, small("41,900 | 40,220 | 39,010", "3,330 | 3,180 | 3,010"))
_RESULTS = Sheet(
    ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands of U.S. dollars)"),
    YEARS,
    """
Revenues | 52,310 | 50,020 | 48,870
Cost of revenues | 30,110 | 29,020 | 28,330
Operating income | 6,330 | 6,010 | 5,770
Income tax expense | 1,440 | 1,390 | 1,310
Net income | 4,330 | 4,110 | 3,980
""",
)
EXHIBITS: Final = (
    Made(
        "Gidleigh Clocks Inc",
        [_SEE_EXHIBIT],
        [
            ("What were Gidleigh Clocks' revenues in 2024?", 41_900e3),
            ("What was Gidleigh Clocks' net income in 2022?", 3_010e3),
        ],
        others=[
            (
                "EX-13",
                f"<html><body>{sheet_html(_STATEMENT)}</body></html>",
            ),
            (
                "EX-21",
                "<html><body><p>Subsidiaries of the registrant: Gidleigh Clocks (Ireland) Ltd 41</p></body></html>",
            ),
        ],
    ),
    Made(
        "Holsworthy Stores Inc",
        [
            "<p>Item 2.02. Results of Operations and Financial Condition.</p><p>A "
            "copy of the press release is furnished as Exhibit 99.1.</p>"
        ],
        [
            ("What were Holsworthy Stores' net sales in the second quarter of fiscal 2024?", 210_330e3),
            ("What was Holsworthy Stores' net income in the second quarter of fiscal 2024?", 11_020e3),
        ],
        form="8-K",
        covers="Date of Report (Date of earliest event reported): August 22, 2024",
        title="CURRENT REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
        others=[
            (
                "EX-99.1",
                "<html><body><p>Holsworthy Stores Inc. Reports Second Quarter Fiscal "
                "2024 Results</p><p>HOLSWORTHY, August 22, 2024 -- Holsworthy Stores "
                "Inc. today announced results for the fiscal quarter ended August 3, "
                "2024.</p>"
                + sheet_html(
                    Sheet(
                        ("CONSOLIDATED STATEMENTS OF INCOME", "(In thousands)"),
                        (
                            "Thirteen Weeks Ended*2 | Twenty-Six Weeks Ended*2",
                            "August 3, 2024 | July 29, 2023 | August 3, 2024 | July 29, 2023",
                        ),
                        """
Net sales | 210,330 | 204,110 | 415,020 | 402,880
Net income | 11,020 | 10,440 | 20,110 | 19,870
""",
                    )
                )
                + "</body></html>",
            )
        ],
    ),
    Made(
        "Jevington Trams Ltd",
        ["<p>Exhibit 99.1: annual results</p>"],
        [
            ("What were Jevington Trams' revenues in 2024?", 52_310e3),
            ("What was Jevington Trams' net income in 2024?", 4_330e3),
        ],
        form="6-K",
        covers="For the month of February 2025",
        title="REPORT OF FOREIGN PRIVATE ISSUER PURSUANT TO RULE 13a-16 UNDER THE SECURITIES EXCHANGE ACT OF 1934",
        others=[("EX-99.1", f"<html><body>{sheet_html(_RESULTS)}</body></html>")],
    ),
    Made(
        "Iddesleigh Foundry Co",
        ["PART II\n\nItem 8. Financial Statements: incorporated by reference to the 1997 Annual Report, Exhibit 13."],
        [
            ("What were Iddesleigh Foundry's net sales in 1997?", 30_110e3),
            ("What was Iddesleigh Foundry's net income in 1996?", 1_980e3),
        ],
        style="typed",
        covers="For the fiscal year ended December 31, 1997",
        others=[
            (
                "EX-13",
                typed_sheet(
                    Sheet(
                        ("CONSOLIDATED STATEMENTS OF INCOME", "(In thousands)"),
                        ("Year Ended December 31,*3", "1997 | 1996 | 1995"),
                        """
Net sales | $ 30,110 | $ 28,900 | $ 27,440
Cost of sales | 19,020 | 18,330 | 17,610
Net income | $ 2,210 | $ 1,980 | $ 1,760
""",
                    )
                ),
            )
        ],
    ),
)

_BLOCK = Made(
    "Jacobstow Yarn Inc",
    [Sheet(INCOME, YEARS, small("19,220 | 18,870 | 18,040", "1,410 | 1,360 | 1,290"))],
    [
        ("What were Jacobstow Yarn's revenues in 2024?", 19_220e3),
        ("What was Jacobstow Yarn's net income in 2022?", 1_290e3),
    ],
)
_QUARTER = Made(
    "Kelly Bray Cider Co",
    [
        Sheet(
            ("CONDENSED CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands)", "(Unaudited)"),
            ("Three Months Ended September 30,*2 | Nine Months Ended September 30,*2", "2024 | 2023 | 2024 | 2023"),
            small("8,110 | 7,990 | 24,020 | 23,660", "610 | 588 | 1,830 | 1,790"),
        )
    ],
    [
        ("What were Kelly Bray Cider's revenues in the third quarter of 2024?", 8_110e3),
        ("What was Kelly Bray Cider's net income in the nine months ended September 30, 2023?", 1_790e3),
    ],
    form="10-Q",
    covers="For the quarterly period ended September 30, 2024",
    title="QUARTERLY REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
)
_ALONE = Made(
    "Lanteglos Ores Ltd",
    [
        Sheet(
            ("CONSOLIDATED STATEMENTS OF INCOME", "(in thousands of Canadian dollars)"),
            ("2024 | 2023",),
            small("5,110 | 4,980", "402 | 388"),
        )
    ],
    [("What were Lanteglos Ores' revenues in 2024?", (5_110e3, "CAD"))],
    form="40-F",
)
BLOCKS: Final = tuple(
    Made(made.name, (), made.asked, made.form, whole=document(made.form, page_html(made)))
    for made in (_BLOCK, _QUARTER, _ALONE)
)

POINTERS: Final = (
    Made(
        "Morwenstow Cement Co",
        [
            "<p><b>Item 7. Management's Discussion and "
            "Analysis</b></p><p>Incorporated by reference to the 2024 Annual "
            "Report to Shareholders.</p>"
            + sheet_html(
                Sheet(
                    ("Schedule II. Valuation and Qualifying Accounts", "(in thousands)"),
                    ("Balance at beginning | Additions | Deductions | Balance at end",),
                    """
2024:
Allowance for revenue returns | 1,110 | 320 | 290 | 1,140
Inventory reserve | 880 | 120 | 90 | 910
""",
                )
            )
        ],
        [
            ("What was Morwenstow Cement's revenue in 2024?", None),
            ("What was Morwenstow Cement's inventory at December 31, 2024?", None),
            ("What was Morwenstow Cement's net income in 2024?", None),
        ],
    ),
    Made(
        "Northlew Dairies Inc",
        [
            "<p>Item 5. Market for Registrant's Common Equity</p>"
            + sheet_html(
                Sheet(
                    ("Stock prices by quarter",),
                    ("2024*2 | 2023*2", "High | Low | High | Low"),
                    "First quarter | 21.10 | 18.40 | 19.90 | 17.20\nSecond quarter | 22.00 | 19.10 | 20.10 | 17.80",
                )
            )
            + "<p>Net sales of a typical store are about 2,400 dollars a day.</p>"
        ],
        [
            ("What were Northlew Dairies' net sales in 2024?", None),
            ("What was Northlew Dairies' gross profit in 2023?", None),
        ],
    ),
    Made(
        "Otterham Quays Inc",
        [
            "<p>Item 15. Exhibits and Financial Statement Schedules</p>"
            + sheet_html(
                Sheet(
                    ("Index to financial statements",),
                    (),
                    """
Consolidated Statements of Operations | F-2
Consolidated Balance Sheets | F-3
Total assets by segment | F-14
""",
                )
            )
        ],
        [
            ("What were Otterham Quays' total assets at December 31, 2024?", None),
            ("What was Otterham Quays' operating income in 2024?", None),
        ],
        style="plain",
    ),
)

KINDS: Final = {
    "continued": CONTINUED,
    "registrants": REGISTRANTS,
    "typed": TYPED,
    "turned or doubled": TURNED,
    "exhibits": EXHIBITS,
    "single block": BLOCKS,
    "pointers": POINTERS,
}

"""What tells the columns of a table apart, from the file to the answer: currencies, restatements, predecessors and
successors, transition periods, classes of shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.small_filings.made import Made, Sheet, fact

INCOME: Final = ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands, except per share amounts)")
OUTSTANDING: Final = "dei:EntityCommonStockSharesOutstanding"
YEARS: Final = ("Year Ended December 31,*3", "2024 | 2023 | 2022")

CURRENCIES: Final = (
    Made(
        "Huaxing Logistics Group Ltd",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF COMPREHENSIVE INCOME", "(Amounts in millions, except per share data)"),
                ("For the year ended December 31,*4", "2022 | 2023 | 2024 | 2024", "RMB | RMB | RMB | US$"),
                """
Total revenues | 8,110 | 8,904 | 9,730 | 1,333
Operating profit | 702 | 811 | 905 | 124
Net income | 540 | 633 | 714 | 98
Diluted net income per share | 1.08 | 1.27 | 1.43 | 0.20
""",
            )
        ],
        [
            ("What were Huaxing Logistics' total revenues in 2024?", (9_730e6, "CNY")),
            ("What were Huaxing Logistics' total revenues in 2024 in US dollars?", (1_333e6, "USD")),
            ("What was Huaxing Logistics' net income in 2023?", (633e6, "CNY")),
            ("What was Huaxing Logistics' net income in 2024 in RMB?", (714e6, "CNY")),
            ("What was Huaxing Logistics' diluted EPS in 2024?", (1.43, "CNY/share")),
        ],
        form="20-F",
        style="plain",
    ),
    Made(
        "Jiading Biotech Holdings",
        [
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(In thousands)"),
                ("As of December 31,*3", "2023 | 2024*2", "RMB | RMB | US$ (Note 2)"),
                """
Cash and cash equivalents | 410,220 | 388,910 | 53,280
Inventories | 96,010 | 101,430 | 13,896
Total assets | 1,204,330 | 1,266,050 | 173,448
Total liabilities | 610,110 | 633,440 | 86,781
""",
            )
        ],
        [
            ("What were Jiading Biotech's total assets at December 31, 2024?", (1_266_050e3, "CNY")),
            ("What were Jiading Biotech's inventories at the end of 2023?", (96_010e3, "CNY")),
            ("What were Jiading Biotech's total liabilities at December 31, 2024 in US$?", (86_781e3, "USD")),
        ],
        form="20-F",
        style="pdf",
    ),
    Made(
        "Kallvik Ferries ASA",
        [
            Sheet(
                ("CONSOLIDATED INCOME STATEMENT", "(NOK million)"),
                ("2024 | 2023",),
                """
Operating revenue | 5,410 | 5,120
Operating profit | 640 | 588
Net profit | 471 | 430
""",
            )
        ],
        [("What was Kallvik Ferries' net profit in 2024?", (471e6, "NOK"))],
        form="20-F",
        style="pdf",
    ),
    Made(
        "Ocotillo Metales S.A.",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(in thousands)"),
                YEARS,
                """
Revenues | 78,220 | 74,110 | 70,010
Operating income | 9,120 | 8,800 | 8,210
Net income | 6,230 | 5,980 | 5,510
""",
            )
        ],
        [
            ("What were Ocotillo Metales' revenues in 2024?", (78_220e3, "XXX")),
            ("What was Ocotillo Metales' net income in 2023?", "currency"),
        ],
        form="20-F",
    ),
    Made(
        "Sakuragi Motors Corp",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(Yen in billions)"),
                ("Year ended March 31,*2", "2024 | 2023"),
                """
Net revenues | ¥ 3,120.4 | ¥ 2,980.1
Operating income | 301.2 | 288.8
Net income attributable to shareholders | ¥ 211.0 | ¥ 198.7
""",
            )
        ],
        [
            ("What were Sakuragi Motors' net revenues in fiscal 2024?", (3_120.4e9, "JPY")),
            ("What was Sakuragi Motors' operating income in the year ended March 31, 2023?", (288.8e9, "JPY")),
        ],
        form="20-F",
        covers="For the fiscal year ended March 31, 2024",
    ),
    Made(
        "Great Slave Gold Mines Ltd",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME (LOSS)", "(expressed in thousands of Canadian dollars)"),
                YEARS,
                """
Revenue | $ 40,120 | $ 38,770 | $ 36,010
Mine operating costs | (21,300) | (20,110) | (19,980)
Net income (loss) | $ 4,310 | $ (1,220) | $ 880
""",
            )
        ],
        [
            ("What was Great Slave Gold Mines' revenue in 2024?", (40_120e3, "CAD")),
            ("What was Great Slave Gold Mines' net income in 2023?", (-1_220e3, "CAD")),
        ],
        form="40-F",
        style="plain",
    ),
)

RESTATED: Final = (
    Made(
        "Hatherden Valves Inc",
        [
            Sheet(
                INCOME,
                ("Year Ended December 31, 2023*3", "As Previously Reported | Adjustments | As Restated"),
                """
Revenues | 210,300 | (8,100) | 202,200
Cost of revenues | 120,400 | (1,300) | 119,100
Operating income | 33,020 | (6,800) | 26,220
Net income | 22,410 | (5,010) | 17,400
""",
            )
        ],
        [
            ("What was Hatherden Valves' restated net income in 2023?", 17_400e3),
            ("What were Hatherden Valves' revenues in 2023, as restated?", 202_200e3),
            ("What was Hatherden Valves' net income in 2023 as previously reported?", 22_410e3),
        ],
        form="10-K/A",
        covers="For the fiscal year ended December 31, 2023",
    ),
    Made(
        "Inkberrow Tools Corp",
        [
            Sheet(
                INCOME,
                ("Years Ended June 30,*3", "2024 | 2023 | 2022", " | (As Restated) | (As Restated)"),
                """
Net sales | $ 61,200 | $ 57,110 | $ 55,020
Gross profit | 20,010 | 18,900 | 18,040
Net income | $ 4,110 | $ 3,020 | $ 2,870
""",
            )
        ],
        [
            ("What were Inkberrow Tools' net sales in fiscal 2024?", 61_200e3),
            ("What was Inkberrow Tools' net income in fiscal 2023?", 3_020e3),
            ("What was Inkberrow Tools' restated net income in fiscal 2022?", 2_870e3),
        ],
        covers="For the fiscal year ended June 30, 2024",
        style="pdf",
    ),
    Made(
        "Ledwyche Foods Inc",
        [
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(In millions)"),
                ("December 31,*3", "2024 | 2023 Restated | 2023 As Reported"),
                """
Inventories | 212 | 190 | 204
Total assets | 1,410 | 1,322 | 1,336
Total stockholders' equity | 690 | 641 | 655
""",
            )
        ],
        [
            ("What were Ledwyche Foods' inventories at December 31, 2024?", 212e6),
            ("What were Ledwyche Foods' restated inventories at December 31, 2023?", 190e6),
            ("What was Ledwyche Foods' total stockholders' equity at December 31, 2023 as originally reported?", 655e6),
        ],
        style="plain",
    ),
)

SUCCESSORS: Final = (
    Made(
        "Brankscombe Energy Corp",
        [
            Sheet(
                INCOME,
                (
                    "Successor | Predecessor*2",
                    "Eight Months Ended December 31, 2024 | Four Months Ended April 30, "
                    "2024 | Year Ended December 31, 2023",
                ),
                """
Net revenues | $ 402,110 | $ 190,020 | $ 610,040
Operating income | 51,000 | (12,200) | 66,100
Net income (loss) | $ 30,120 | $ (404,010) | $ 31,870
""",
            )
        ],
        [
            ("What were Brankscombe Energy's net revenues in 2024?", None),
            ("What was Brankscombe Energy's net income in 2024?", None),
            ("What were Brankscombe Energy's net revenues in 2023?", 610_040e3),
            ("What were Brankscombe Energy's net revenues for the eight months ended December 31, 2024?", 402_110e3),
            (
                "What was the predecessor's net income of Brankscombe Energy for the four months ended April 30, 2024?",
                -404_010e3,
            ),
            ("What was the operating income of Brankscombe Energy's successor in 2024?", 51_000e3),
        ],
    ),
    Made(
        "Tollerton Coal Inc",
        [
            Sheet(
                INCOME,
                (
                    "Successor*2 | Predecessor*2",
                    "Year Ended December 31, 2024 | Period from October 2, 2023 through December 31, 2023 |"
                    " Period from January 1, 2023 through October 1, 2023 | Year Ended December 31, 2022",
                ),
                """
Revenues | 310,400 | 81,200 | 244,050 | 330,800
Depreciation, depletion and amortization | 41,100 | 10,900 | 33,010 | 44,920
Net income (loss) | 21,030 | 4,410 | 812,330 | (92,140)
""",
            )
        ],
        [
            ("What were Tollerton Coal's revenues in 2024?", 310_400e3),
            ("What were Tollerton Coal's revenues in 2023?", None),
            ("What was Tollerton Coal's net income in 2023?", None),
            ("What was Tollerton Coal's net loss in 2022?", -92_140e3),
            ("What were Tollerton Coal's revenues from October 2, 2023 through December 31, 2023?", 81_200e3),
            ("What were Tollerton Coal's revenues for the period January 1, 2023 to October 1, 2023?", 244_050e3),
            ("What was Tollerton Coal's depreciation, depletion and amortization in 2023?", None),
        ],
        style="plain",
    ),
    Made(
        "Marchwood Paints Holdings",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF CASH FLOWS", "(In millions)"),
                (
                    "Successor | Predecessor*2",
                    "July 1 to Dec. 31, | Jan. 1 to June 30, | Year Ended Dec. 31,",
                    "2024 | 2024 | 2023",
                ),
                """
Net income | 31 | 22 | 48
Depreciation and amortization | 40 | 36 | 70
Net cash provided by operating activities | 88 | 51 | 120
Capital expenditures | (25) | (19) | (40)
""",
            )
        ],
        [
            ("What were Marchwood Paints' capital expenditures in 2024?", None),
            ("What was Marchwood Paints' net cash provided by operating activities in 2023?", 120e6),
            ("What was Marchwood Paints' net income in 2024?", None),
        ],
        style="pdf",
    ),
)

TRANSITION: Final = (
    Made(
        "Nunnington Devices Inc",
        [
            Sheet(
                INCOME,
                ("Six Months Ended December 31, | Years Ended June 30,*2", "2024 | 2024 | 2023"),
                """
Net revenue | $ 80,110 | $ 151,200 | $ 140,030
Gross profit | 41,020 | 77,330 | 70,980
Net income | $ 9,410 | $ 18,020 | $ 16,440
""",
            )
        ],
        [
            ("What was Nunnington Devices' net revenue in the transition period ended December 31, 2024?", 80_110e3),
            ("What was Nunnington Devices' net income for the six months ended December 31, 2024?", 9_410e3),
            (
                "What was Nunnington Devices' net revenue for the transition period "
                "from July 1, 2024 to December 31, 2024?",
                80_110e3,
            ),
            ("What was Nunnington Devices' net income in fiscal 2023?", 16_440e3),
            ("What was Nunnington Devices' net revenue in the year ended June 30, 2024?", 151_200e3),
            ("What was Nunnington Devices' gross profit in the transition period?", 41_020e3),
        ],
        form="10-KT",
        covers="For the transition period from July 1, 2024 to December 31, 2024",
        title="TRANSITION REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
    ),
    Made(
        "Oldcotes Marine Corp",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(Dollars in thousands)"),
                (
                    "Transition Period | Year Ended | Year Ended",
                    "October 1 to | September 30, | September 30,",
                    "December 31, 2023 | 2023 | 2022",
                ),
                """
Sales | 22,310 | 91,200 | 88,050
Operating income | 2,040 | 9,110 | 8,770
Net income | 1,420 | 6,330 | 6,010
""",
            ),
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(Dollars in thousands)"),
                ("December 31, 2023 | September 30, 2023",),
                """
Cash and cash equivalents | 9,110 | 8,870
Accounts receivable | 12,040 | 11,980
Inventories | 14,020 | 13,110
Total current assets | 36,330 | 35,010
Total assets | 80,220 | 78,010
Accounts payable | 7,330 | 7,110
Total stockholders' equity | 51,020 | 50,440
""",
            ),
        ],
        [
            ("What were Oldcotes Marine's sales in the transition period ended December 31, 2023?", 22_310e3),
            ("What were Oldcotes Marine's sales in fiscal 2023?", 91_200e3),
            ("What was Oldcotes Marine's net income in fiscal 2022?", 6_010e3),
            ("What were Oldcotes Marine's inventories at December 31, 2023?", 14_020e3),
            ("What were Oldcotes Marine's total assets at September 30, 2023?", 78_010e3),
        ],
        form="10-KT",
        covers="For the transition period from October 1, 2023 to December 31, 2023",
        title="TRANSITION REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
        style="pdf",
    ),
    Made(
        "Pirbright Lenses Inc",
        [
            Sheet(
                INCOME,
                ("Nine Months Ended | Twelve Months Ended*2", "December 31, 2022 | March 31, 2022 | March 31, 2021"),
                """
Revenues | 60,410 | 77,020 | 70,880
Cost of revenues | 31,110 | 40,030 | 37,920
Net income | 5,020 | 6,780 | 5,930
""",
            )
        ],
        [
            (
                "What were Pirbright Lenses' revenues for the nine month transition period ended December 31, 2022?",
                60_410e3,
            ),
            ("What were Pirbright Lenses' revenues in 2022?", "March 31, 2022"),
            ("What was Pirbright Lenses' net income for the year ended March 31, 2022?", 6_780e3),
        ],
        form="10-KT",
        covers="For the transition period from April 1, 2022 to December 31, 2022",
        title="TRANSITION REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
        style="plain",
    ),
)

CLASSES: Final = (
    Made(
        "Quenby Brewing Co",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(In thousands, except per share amounts)"),
                YEARS,
                """
Net revenues | 88,010 | 85,220 | 82,040
Net income | 7,110 | 6,840 | 6,330
Basic earnings per share:
  Class A common stock | 1.44 | 1.37 | 1.25
  Class B common stock | 1.20 | 1.14 | 1.04
Diluted earnings per share:
  Class A common stock | 1.41 | 1.35 | 1.23
  Class B common stock | 1.18 | 1.12 | 1.02
Dividends per share:
  Class A common stock | 0.40 | 0.36 | 0.32
  Class B common stock | 0.36 | 0.33 | 0.29
""",
            )
        ],
        [
            ("What was Quenby Brewing's diluted EPS in 2024?", "1.18"),
            ("What was Quenby Brewing's diluted EPS in 2024? ", "1.41"),
            ("What was Quenby Brewing's diluted EPS for Class B in 2024?", (1.18, "USD/share")),
            ("What was Quenby Brewing's basic EPS of Class A common stock in 2023?", 1.37),
            ("What were Quenby Brewing's dividends per share of Class B common stock in 2022?", 0.29),
        ],
        cover=(
            "As of February 20, 2025 there were outstanding 4,100,000 shares of "
            "Class A common stock and 900,000 shares of Class B common stock.",
        ),
    ),
    Made(
        "Rossendale Motels Inc",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In millions, except per share data)"),
                ("2024 | 2023",),
                """
Revenues | 1,310 | 1,280
Net income | 104 | 98
Net income per share of Class A common stock, diluted | 2.10 | 1.96
Net income per share of Class B common stock, diluted | 1.91 | 1.78
Dividends declared per share of Class A common stock | 0.50 | 0.48
Dividends declared per share of Class B common stock | 0.45 | 0.43
""",
            )
        ],
        [
            ("What was Rossendale Motels' diluted EPS for Class A in 2024?", 2.10),
            ("What was Rossendale Motels' diluted net income per share of Class B common stock in 2023?", 1.78),
            ("What was Rossendale Motels' diluted EPS in 2024?", "1.91"),
            ("What were Rossendale Motels' dividends declared per share of Class B in 2024?", 0.45),
        ],
        style="pdf",
    ),
    Made(
        "Sidbury Cable Corp",
        [
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(In thousands, except share data)"),
                ("December 31,*2", "2024 | 2023"),
                """
Cash and cash equivalents | 9,110 | 8,870
Accounts receivable | 12,040 | 11,980
Inventories | 14,020 | 13,110
Total current assets | 36,330 | 35,010
Total assets | 510,220 | 498,110
Accounts payable | 7,330 | 7,110
Class A common stock, $.01 par value; 61,200,000 shares outstanding | 612 | 604
Class B common stock, $.01 par value; 12,400,000 shares outstanding | 124 | 124
Total stockholders' equity | 210,440 | 201,010
""",
            )
        ],
        [
            ("How many shares of Sidbury Cable's Class A common stock are outstanding?", 61_310_000),
            ("How many Class B shares of Sidbury Cable were outstanding on February 14, 2025?", 12_400_000),
            ("How many shares of Sidbury Cable are outstanding in total?", 73_710_000),
            ("How many shares of Sidbury Cable are outstanding?", "61,310,000"),
            ("What was Sidbury Cable's Class B common stock on the balance sheet at December 31, 2024?", 124e3),
        ],
        cover=(
            "<table><tr><td>Class</td><td>Outstanding at February 14, 2025</td></tr><tr><td>Class A common stock, par"
            " value $.01</td><td>61,310,000</td></tr><tr><td>Class B common stock, par value $.01</td>"
            "<td>12,400,000</td></tr></table>",
        ),
        style="plain",
    ),
    Made(
        "Tideswell Press Inc",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(In thousands)"),
                ("2024 | 2023",),
                "Revenues | 9,110 | 8,870\nNet income | 402 | 388",
            )
        ],
        [
            ("How many Class A shares of Tideswell Press are outstanding?", 41_220_310),
            ("How many shares of Class B common stock of Tideswell Press are outstanding?", 8_100_000),
            ("How many shares of Tideswell Press are outstanding in total?", 49_320_310),
            ("What is the number of shares of Tideswell Press outstanding?", "8,100,000"),
        ],
        cover=(
            "The number of shares outstanding of the registrant’s Class A common stock and Class B common stock as of"
            f" January 31, 2025 was {fact(OUTSTANDING, 'a', '41,220,310', 0, 'shares')} and"
            f" {fact(OUTSTANDING, 'b', '8,100,000', 0, 'shares')}, respectively.",
        ),
        contexts="a 2025-01-31 StatementClassOfStockAxis=us-gaap:CommonClassAMember\n"
        "b 2025-01-31 StatementClassOfStockAxis=us-gaap:CommonClassBMember",
        style="tagged",
    ),
    Made(
        "Ullenhall Dairy Corp",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(In millions, except per share amounts)"),
                ("2024 | 2023",),
                "Revenues | 9,110 | 8,870\nOperating income | 640 | 610\nNet income | 402 | 388",
            )
        ],
        [
            ("How many Class C shares of Ullenhall Dairy are outstanding?", 2_750_000),
            ("How many shares of Class A common stock of Ullenhall Dairy are outstanding?", 310_400_000),
            ("How many shares of Ullenhall Dairy are outstanding?", "2,750,000"),
        ],
        cover=(
            "As of February 3, 2025, there were 310,400,000 shares of the registrant’s Class A common stock, 45,100,000"
            " shares of Class B common stock and 2,750,000 shares of Class C common stock outstanding.",
        ),
    ),
    Made(
        "Vowchurch Grain Co",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(In thousands)"),
                ("2024 | 2023",),
                "Revenues | 9,110 | 8,870\nOperating income | 640 | 610\nNet income | 402 | 388",
            )
        ],
        [("How many shares of Vowchurch Grain are outstanding?", 22_410_500)],
        cover=("As of February 3, 2025, there were 22,410,500 shares of the registrant’s common stock outstanding.",),
    ),
    Made(
        "Winterslow Games Inc",
        [
            "<p>CONSOLIDATED STATEMENTS OF OPERATIONS</p><p>(In thousands, except per share data)</p><table>"
            "<tr><td></td><td>2024</td><td>2023</td></tr>"
            + "".join(
                f"<tr><td>{label}</td><td>{fact(concept, one, text, *scaled)}</td>"
                f"<td>{fact(concept, other, before, *scaled)}</td></tr>"
                for label, concept, one, other, text, before, *scaled in (
                    ("Revenues", "us-gaap:Revenues", "y24", "y23", "91,220", "88,010", 3),
                    ("Operating income", "us-gaap:OperatingIncomeLoss", "y24", "y23", "9,330", "8,870", 3),
                    ("Net income", "us-gaap:NetIncomeLoss", "y24", "y23", "6,110", "5,990", 3),
                    ("Diluted, Class A", "us-gaap:EarningsPerShareDiluted", "a24", "a23", "1.02", "0.99", 0, "usdps"),
                    ("Diluted, Class B", "us-gaap:EarningsPerShareDiluted", "b24", "b23", "0.93", "0.91", 0, "usdps"),
                )
            )
            + "</table>"
        ],
        [
            ("What was Winterslow Games' diluted EPS for Class B in 2024?", 0.93),
            ("What was Winterslow Games' diluted EPS of Class A in 2023?", 0.99),
            ("What was Winterslow Games' diluted EPS in 2024?", None),
            ("What was Winterslow Games' net income in 2023?", 5_990e3),
        ],
        contexts="\n".join(
            f"{letter.lower()}{year} 20{year}-01-01..20{year}-12-31 "
            f"StatementClassOfStockAxis=us-gaap:CommonClass{letter}Member"
            for letter in "AB"
            for year in (24, 23)
        ),
        style="tagged",
    ),
)


def _tagged(title: str, heads: Sequence[str], rows: Sequence[tuple[str, str, Sequence[tuple[str, str]]]]) -> str:
    """A table in thousands with tagged cells: label, concept, and (context, text) of each cell. An empty text is
    declared nil, a dash is tagged as zero."""

    def cell(concept: str, context: str, text: str) -> str:
        if text and text != "—":
            return fact(concept, context, text, 3)
        more = 'xsi:nil="true"' if not text else ""
        return fact(concept, context, text, 3, more=more).replace("num-dot-decimal", "fixed-zero")

    body = "".join(
        f"<tr><td>{label}</td>{''.join(f'<td>{cell(concept, *each)}</td>' for each in cells)}</tr>"
        for label, concept, cells in rows
    )
    head = "".join(f"<td>{text}</td>" for text in ("", *heads))
    return f"<p>{title}</p><p>(In thousands)</p><table><tr>{head}</tr>{body}</table>"


def _of(*texts: str, contexts: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(contexts, texts, strict=True))


_PARTS = ("s24", "p24", "y23")
_BALANCE = ("e24", "e23")
DECLARED: Final = (
    Made(
        "Yoxford Timber Inc",
        [
            _tagged(
                "CONSOLIDATED STATEMENTS OF OPERATIONS",
                ("2024", "2024", "2023"),
                [
                    ("Revenues", "us-gaap:Revenues", _of("80,450", "40,000", "110,320", contexts=_PARTS)),
                    ("Gross profit", "us-gaap:GrossProfit", _of("31,000", "15,200", "42,110", contexts=_PARTS)),
                    (
                        "Operating income",
                        "us-gaap:OperatingIncomeLoss",
                        _of("20,130", "10,000", "26,205", contexts=_PARTS),
                    ),
                    ("Goodwill impairment", "us-gaap:GoodwillImpairmentLoss", _of("—", "—", "5,225", contexts=_PARTS)),
                    ("Net income", "us-gaap:NetIncomeLoss", _of("14,000", "7,000", "18,000", contexts=_PARTS)),
                ],
            ),
            _tagged(
                "CONSOLIDATED BALANCE SHEETS",
                ("December 31, 2024", "December 31, 2023"),
                [
                    ("Inventories", "us-gaap:InventoryNet", _of("9,310", "9,120", contexts=_BALANCE)),
                    ("Total current assets", "us-gaap:AssetsCurrent", _of("31,300", "30,110", contexts=_BALANCE)),
                    ("Total assets", "us-gaap:Assets", _of("101,300", "98,110", contexts=_BALANCE)),
                    ("Short-term borrowings", "us-gaap:ShortTermBorrowings", _of("—", "2,110", contexts=_BALANCE)),
                    (
                        "Commitments and contingencies",
                        "us-gaap:CommitmentsAndContingencies",
                        _of("", "", contexts=_BALANCE),
                    ),
                    (
                        "Total stockholders' equity",
                        "us-gaap:StockholdersEquity",
                        _of("61,090", "58,300", contexts=_BALANCE),
                    ),
                ],
            ),
        ],
        [
            ("What were Yoxford Timber's revenues in 2024?", None),
            ("What was Yoxford Timber's net income in 2024?", "$14 million for the 8 months ended December 31, 2024"),
            ("What was Yoxford Timber's net income in 2023?", 18_000e3),
            ("What were Yoxford Timber's revenues for the eight months ended December 31, 2024?", 80_450e3),
            ("What was Yoxford Timber's gross profit for the four months ended April 30, 2024?", 15_200e3),
            ("What was Yoxford Timber's goodwill impairment for the eight months ended December 31, 2024?", 0.0),
            ("What were Yoxford Timber's short-term borrowings at December 31, 2024?", 0.0),
            ("What were Yoxford Timber's commitments and contingencies at December 31, 2024?", None),
        ],
        contexts="s24 2024-05-01..2024-12-31\np24 2024-01-01..2024-04-30",
        style="tagged",
    ),
)

KINDS: Final = {
    "declared": DECLARED,
    "currencies": CURRENCIES,
    "restated": RESTATED,
    "successors": SUCCESSORS,
    "transition": TRANSITION,
    "classes": CLASSES,
}

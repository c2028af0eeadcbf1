"""Layouts that most filings have, from the file to the answer: balances of three years, quarters side by side, scales
that differ from table to table, columns of percentages."""

from __future__ import annotations

from typing import Final

from tests.small_filings.made import Made, Sheet

THREE_YEARS: Final = (
    Made(
        "Alverdiscott Leather Inc",
        [
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(In thousands, except share data)"),
                ("December 31,*3", "2024 | 2023 | 2022"),
                """
ASSETS
Current assets:
  Cash and cash equivalents | $ 20,110 | $ 18,330 | $ 15,020
  Accounts receivable, net | 31,020 | 30,110 | 28,870
  Inventories | 40,330 | 39,010 | 37,770
  Total current assets | 91,460 | 87,450 | 81,660
Property, plant and equipment, net | 61,200 | 58,410 | 55,030
Total assets | $ 152,660 | $ 145,860 | $ 136,690
LIABILITIES AND STOCKHOLDERS' EQUITY
Current liabilities:
  Accounts payable | $ 19,220 | $ 18,110 | $ 17,040
  Total current liabilities | 33,010 | 31,220 | 30,110
Long-term debt | 40,000 | 42,000 | 44,000
Total stockholders' equity | 79,650 | 72,640 | 62,580
""",
            )
        ],
        [
            ("What were Alverdiscott Leather's inventories at December 31, 2022?", 37_770e3),
            ("What was Alverdiscott Leather's long-term debt at the end of 2023?", 42_000e3),
            ("What were Alverdiscott Leather's total assets at December 31, 2024?", 152_660e3),
            ("What were Alverdiscott Leather's total current liabilities in 2022?", 30_110e3),
            ("What was Alverdiscott Leather's current ratio at the end of 2023?", "2.8"),
            ("By how much did Alverdiscott Leather's stockholders' equity change from 2022 to 2023?", 10_060e3),
        ],
        style="wide",
    ),
    Made(
        "Bratton Clovelly Oil Co",
        [
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(Millions of dollars)"),
                ("At December 31 | 2024 | 2023 | 2022",),
                """
Cash and cash equivalents | 1,204 | 1,133 | 1,090
Receivables | 3,310 | 3,220 | 3,118
Properties, net | 20,440 | 19,870 | 19,020
Total assets | 27,330 | 26,510 | 25,410
Notes payable | 410 | 380 | 610
Deferred income taxes | 2,110 | 2,040 | 1,980
Total shareholders' equity | 14,020 | 13,440 | 12,610
""",
            )
        ],
        [
            ("What was Bratton Clovelly Oil's cash and cash equivalents at December 31, 2022?", 1_090e6),
            ("What were Bratton Clovelly Oil's notes payable at December 31, 2023?", 380e6),
            ("What were Bratton Clovelly Oil's deferred income taxes at December 31, 2024?", 2_110e6),
            ("What was Bratton Clovelly Oil's total shareholders' equity at the end of 2022?", 12_610e6),
        ],
        style="pdf",
    ),
)

QUARTERS: Final = (
    Made(
        "Cheriton Fitzpaine Toys Inc",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands)"),
                ("Year Ended December 31,*2", "2024 | 2023"),
                "Net sales | 120,400 | 115,200\nGross profit | 48,010 | 45,220\nNet income | 10,110 | 9,870",
            ),
            Sheet(
                ("Note 15. Quarterly Financial Data (Unaudited)", "(In thousands, except per share data)"),
                ("2024 Quarter Ended*4", "March 31 | June 30 | September 30 | December 31"),
                """
Net sales | 25,010 | 27,330 | 29,040 | 39,020
Gross profit | 9,880 | 10,910 | 11,600 | 15,620
Net income | 1,610 | 2,120 | 2,440 | 3,940
Diluted earnings per share | 0.16 | 0.21 | 0.24 | 0.39
""",
            ),
        ],
        [
            ("What were Cheriton Fitzpaine Toys' net sales in 2024?", 120_400e3),
            ("What were Cheriton Fitzpaine Toys' net sales in the third quarter of 2024?", 29_040e3),
            ("What was Cheriton Fitzpaine Toys' net income in the fourth quarter of 2024?", 3_940e3),
            ("What was Cheriton Fitzpaine Toys' diluted EPS in the second quarter of 2024?", 0.21),
            ("What was Cheriton Fitzpaine Toys' gross profit in Q1 2024?", 9_880e3),
        ],
        style="plain",
    ),
    Made(
        "Drewton Airlines Inc",
        [
            Sheet(
                (
                    "CONDENSED CONSOLIDATED STATEMENTS OF INCOME",
                    "(In millions, except per share amounts)",
                    "(Unaudited)",
                ),
                ("Three Months Ended June 30,*2 | Six Months Ended June 30,*2", "2024 | 2023 | 2024 | 2023"),
                """
Operating revenues | $ 1,310 | $ 1,288 | $ 2,540 | $ 2,477
Operating income | 133 | 128 | 210 | 203
Net income | $ 88 | $ 84 | $ 131 | $ 126
Diluted earnings per share | $ 0.88 | $ 0.83 | $ 1.31 | $ 1.24
""",
            )
        ],
        [
            ("What were Drewton Airlines' operating revenues in the second quarter of 2024?", 1_310e6),
            ("What was Drewton Airlines' net income for the six months ended June 30, 2024?", 131e6),
            ("What was Drewton Airlines' operating income in the three months ended June 30, 2023?", 128e6),
            ("What was Drewton Airlines' diluted EPS for the six months ended June 30, 2023?", 1.24),
        ],
        form="10-Q",
        covers="For the quarterly period ended June 30, 2024",
        title="QUARTERLY REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
        style="pdf",
    ),
    Made(
        "Eggesford Timber Corp",
        [
            Sheet(
                ("Selected Quarterly Financial Data", "(Dollars in millions, unaudited)"),
                (" | First Quarter | Second Quarter | Third Quarter | Fourth Quarter | Year",),
                """
2024
Net sales | 210 | 225 | 231 | 244 | 910
Net income | 11 | 14 | 15 | 18 | 58
2023
Net sales | 202 | 218 | 222 | 233 | 875
Net income | 10 | 12 | 13 | 16 | 51
""",
            )
        ],
        [
            ("What were Eggesford Timber's net sales in the second quarter of 2024?", 225e6),
            ("What was Eggesford Timber's net income in the third quarter of 2024?", 15e6),
            ("What were Eggesford Timber's net sales in 2024?", 910e6),
            ("What was Eggesford Timber's net income in 2023?", 51e6),
        ],
        style="plain",
    ),
)

SCALES: Final = (
    Made(
        "Filleigh Insurance Group",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(In millions)"),
                ("Years ended December 31,*2", "2024 | 2023"),
                "Premiums earned | 4,110 | 3,980\nNet investment income | 412 | 388\nNet income | 510 | 477",
            ),
            Sheet(
                (
                    "Note 9. Stock-Based Compensation",
                    "The following table shows restricted stock units (in thousands).",
                ),
                ("Units | Weighted-average grant date fair value",),
                """
Nonvested at January 1, 2024 | 1,210 | $ 41.10
Granted | 410 | 45.20
Vested | (388) | 40.30
Nonvested at December 31, 2024 | 1,232 | $ 42.70
""",
            ),
            Sheet(
                ("Note 12. Leases", "Maturities of lease liabilities at December 31, 2024 (in thousands):"),
                (),
                "2025 | $ 4,110\n2026 | 3,870\n2027 | 3,220\nThereafter | 9,040\nTotal lease payments | 20,240",
            ),
        ],
        [
            ("What were Filleigh Insurance's premiums earned in 2024?", 4_110e6),
            ("What was Filleigh Insurance's net investment income in 2023?", 388e6),
            ("How many restricted stock units did Filleigh Insurance grant in 2024?", 410e3),
            ("What were Filleigh Insurance's total lease payments at December 31, 2024?", 20_240e3),
            (
                "What was the weighted-average grant date fair value of Filleigh "
                "Insurance's restricted stock units granted in 2024?",
                45.20,
            ),
        ],
    ),
    Made(
        "Goodleigh Steel Corp",
        [
            Sheet(
                ("Selected Financial Data", "(Dollars in thousands, except per share and per ton amounts)"),
                ("2024 | 2023 | 2022",),
                """
Net sales | 810,220 | 790,110 | 770,440
Net income | 41,020 | 38,330 | 36,110
Shipments (thousands of tons) | 1,220 | 1,190 | 1,160
Average price per ton | $ 664 | $ 662 | $ 658
Number of employees | 2,410 | 2,380 | 2,350
""",
            ),
            Sheet(
                ("CONSOLIDATED STATEMENTS OF CASH FLOWS", "(In millions)"),
                ("Years Ended December 31,*3", "2024 | 2023 | 2022"),
                """
Net income | 41.0 | 38.3 | 36.1
Depreciation | 22.4 | 21.9 | 21.1
Capital expenditures | (30.2) | (28.8) | (26.4)
Dividends paid | (8.1) | (7.9) | (7.6)
""",
            ),
        ],
        [
            ("What were Goodleigh Steel's capital expenditures in 2023?", 28.8e6),
            ("What were Goodleigh Steel's net sales in 2022?", 770_440e3),
            ("How many employees did Goodleigh Steel have in 2024?", 2_410),
            ("What were Goodleigh Steel's dividends paid in 2024?", 8.1e6),
            ("What was Goodleigh Steel's net income in 2022?", "$36.1 million"),
            ("What were Goodleigh Steel's shipments in tons in 2024?", 1_220e3),
        ],
        style="pdf",
    ),
)

PERCENTAGES: Final = (
    Made(
        "Hittisleigh Brands Inc",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(Dollars in thousands)"),
                ("2024*2 | 2023*2", "Amount | % of Sales | Amount | % of Sales"),
                """
Net sales | $ 310,200 | 100.0% | $ 298,400 | 100.0%
Cost of sales | 190,440 | 61.4 | 184,010 | 61.7
Gross profit | 119,760 | 38.6 | 114,390 | 38.3
Operating income | 40,330 | 13.0 | 37,720 | 12.6
Net income | $ 27,010 | 8.7% | $ 25,110 | 8.4%
""",
            )
        ],
        [
            ("What was Hittisleigh Brands' gross profit in 2024?", 119_760e3),
            ("What was Hittisleigh Brands' operating income in 2023?", 37_720e3),
            ("What was Hittisleigh Brands' net income in 2023?", 25_110e3),
            ("What was Hittisleigh Brands' cost of sales in 2024?", 190_440e3),
        ],
        style="plain",
    ),
    Made(
        "Iddlecott Media Corp",
        [
            Sheet(
                ("Results of Operations", "(In millions)"),
                (" | Year Ended December 31,*2 | Change*2", " | 2024 | 2023 | $ | %"),
                """
Advertising revenue | 512 | 488 | 24 | 4.9%
Subscription revenue | 340 | 361 | (21) | (5.8)%
Total revenues | 852 | 849 | 3 | 0.4%
Operating expenses | 700 | 690 | 10 | 1.4%
Net income | 101 | 106 | (5) | (4.7)%
""",
            )
        ],
        [
            ("What was Iddlecott Media's advertising revenue in 2024?", 512e6),
            ("What was Iddlecott Media's subscription revenue in 2023?", 361e6),
            ("By how much did Iddlecott Media's subscription revenue change from 2023 to 2024?", -21e6),
            ("What was Iddlecott Media's net income in 2023?", 106e6),
        ],
        style="pdf",
    ),
    Made(
        "Jurston Retail Inc",
        [
            Sheet(
                ("Segment Information", "(In millions)"),
                ("2024*3 | 2023*3", "North America | Europe | Total | North America | Europe | Total"),
                """
Net sales | 810 | 330 | 1,140 | 788 | 318 | 1,106
Operating income | 92 | 31 | 123 | 90 | 28 | 118
Depreciation | 21 | 9 | 30 | 20 | 9 | 29
""",
            ),
            Sheet(
                ("Effective income tax rate",),
                ("2024 | 2023 | 2022",),
                """
Federal statutory rate | 21.0% | 21.0% | 21.0%
State taxes | 3.1 | 2.9 | 3.0
Foreign rate differences | (1.2) | (0.8) | —
Effective tax rate | 22.9% | 23.1% | 24.0%
""",
            ),
        ],
        [
            ("What were Jurston Retail's net sales in Europe in 2024?", 330e6),
            ("What was Jurston Retail's operating income in North America in 2023?", 90e6),
            ("What were Jurston Retail's total net sales in 2023?", 1_106e6),
            ("What was Jurston Retail's effective tax rate in 2023?", 23.1),
            ("What was Jurston Retail's state taxes rate in 2024?", 3.1),
        ],
    ),
)

KINDS: Final = {
    "three years": THREE_YEARS,
    "quarters": QUARTERS,
    "scales": SCALES,
    "percentages": PERCENTAGES,
}

"""What a cell may print besides a plain figure, from the file to the answer: dashes, marks of footnotes, numbers of
notes, figures per share, separators of other countries, and unusual negatives."""

from __future__ import annotations

from typing import Final

from tests.small_filings.made import Made, Sheet

INCOME: Final = ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands, except per share amounts)")
YEARS: Final = ("Year Ended December 31,*3", "2024 | 2023 | 2022")

DASHES: Final = (
    Made(
        "Wexcombe Paper Corp",
        [
            Sheet(
                INCOME,
                YEARS,
                """
Net sales | $ 88,410 | $ 90,020 | $ 81,300
Cost of sales | (51,000) | (52,300) | (47,900)
Gain on disposal of mill | 4,300 | — | —
Goodwill impairment | — | (7,150) | –
Restructuring charges | -- | (1,480) | (960)
Operating income | 9,800 | 10,020 | 8,700
Net income | $ 7,210 | $ 6,640 | $ 5,950
""",
            )
        ],
        [
            ("What was Wexcombe Paper's goodwill impairment in 2024?", 0.0),
            ("What was Wexcombe Paper's goodwill impairment in 2022?", 0.0),
            ("What was Wexcombe Paper's gain on disposal of mill in 2023?", 0.0),
            ("What were Wexcombe Paper's restructuring charges in 2024?", 0.0),
            ("By how much did Wexcombe Paper's gain on disposal of mill change from 2023 to 2024?", 4_300e3),
            ("What was Wexcombe Paper's gain on disposal of mill in 2024?", 4_300e3),
        ],
    ),
    Made(
        "Ottermouth Salt Inc",
        [
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(Dollars in millions)"),
                ("December 31,*2", "2024 | 2023"),
                """
Cash and cash equivalents | $ 412 | $ 380
Assets held for sale | – | 56
Inventories | 214 | 208
Total assets | $ 3,120 | $ 3,004
Short-term borrowings | 75 | -
Long-term debt | 640 | 702
Commitments and contingencies (Note 12)
Total stockholders' equity | $ 1,880 | $ 1,790
Total liabilities and stockholders' equity | $ 3,120 | $ 3,004
""",
            )
        ],
        [
            ("What were Ottermouth Salt's assets held for sale at December 31, 2024?", 0.0),
            ("What were Ottermouth Salt's short-term borrowings at December 31, 2023?", 0.0),
            ("What were Ottermouth Salt's short-term borrowings at December 31, 2024?", 75e6),
            ("What were Ottermouth Salt's commitments and contingencies at December 31, 2024?", None),
        ],
        style="pdf",
    ),
    Made(
        "Penhallow Rivet Co",
        [
            Sheet(
                INCOME,
                YEARS,
                """
Revenues | 45,100 | 43,900 | 41,200
Litigation settlement | NM | (620) | (410)
Impairment of long-lived assets | | (2,300) | (150)
Loss on early retirement of debt | n/a | (910) | nil
Net income | 3,300 | 2,900 | 2,750
""",
            )
        ],
        [
            ("What was Penhallow Rivet's impairment of long-lived assets in 2024?", None),
            ("What was Penhallow Rivet's loss on early retirement of debt in 2024?", None),
            ("What was Penhallow Rivet's litigation settlement in 2024?", None),
            ("What was Penhallow Rivet's litigation settlement in 2022?", -410e3),
        ],
        style="plain",
    ),
)

FOOTNOTE_MARKS: Final = (
    Made(
        "Dunvegan Lamp Inc",
        [
            Sheet(
                INCOME,
                YEARS,
                """
Net sales<sup>(a)</sup> | $ 64,310<sup>(b)</sup> | $ 61,020 | $ 58,440
Gross profit | 21,100<sup>2</sup> | 20,700<sup>2</sup> | 19,800
Operating income | 8,140<sup>3,4</sup> | 7,900 | 7,420
Net income | $ 5,230<sup>*</sup> | $ 5,010 | $ 4,770
Diluted earnings per share | $ 1.31<sup>5</sup> | $ 1.25 | $ 1.19
""",
                ("(a) Includes freight. (b) Includes a 53rd week.",),
            )
        ],
        [
            ("What were Dunvegan Lamp's net sales in 2024?", 64_310e3),
            ("What was Dunvegan Lamp's gross profit in 2024?", 21_100e3),
            ("What was Dunvegan Lamp's gross profit in 2023?", 20_700e3),
            ("What was Dunvegan Lamp's operating income in 2024?", 8_140e3),
            ("What was Dunvegan Lamp's net income in 2024?", 5_230e3),
            ("What was Dunvegan Lamp's diluted EPS in 2024?", 1.31),
        ],
        style="plain",
    ),
    Made(
        "Corrieshalloch Glass Corp",
        [
            Sheet(
                INCOME,
                YEARS,
                """
Revenues | 310,200<sup>1</sup> | 298,700 | 287,100
Operating income | (41,020)<sup>2</sup> | 36,300 | 33,900
Net income | (30,110)<sup>2</sup> | 24,800 | 22,700
Diluted earnings per share | (1.12)<sup>3</sup> | 0.92 | 0.84
""",
                ("1 Includes the results of a business acquired in 2024.",),
            )
        ],
        [
            ("What were Corrieshalloch Glass's revenues in 2024?", 310_200e3),
            ("What was Corrieshalloch Glass's net income in 2024?", -30_110e3),
            ("What was Corrieshalloch Glass's operating income in 2024?", -41_020e3),
            ("What was Corrieshalloch Glass's diluted EPS in 2024?", -1.12),
        ],
        style="pdf",
    ),
    Made(
        "Harbottle Soap Ltd",
        [
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(In thousands)"),
                ("December 31, 2024 (1) | December 31, 2023",),
                """
Cash and cash equivalents (2) | $ 12,040 (3) | $ 10,910
Inventories | 9,310 (a) | 9,120 (a)
Goodwill | 31,700† | 31,700
Total assets | $ 110,430 | $ 104,220
Total stockholders' equity | $ 61,090 (4) | $ 58,300
""",
                ("(1) Derived from audited statements.",),
            )
        ],
        [
            ("What was Harbottle Soap's cash and cash equivalents at December 31, 2024?", 12_040e3),
            ("What were Harbottle Soap's inventories at December 31, 2024?", 9_310e3),
            ("What were Harbottle Soap's inventories at the end of 2023?", 9_120e3),
            ("What was Harbottle Soap's goodwill at December 31, 2024?", 31_700e3),
            ("What was Harbottle Soap's total stockholders' equity at December 31, 2024?", 61_090e3),
        ],
    ),
)

NOTE_COLUMNS: Final = (
    Made(
        "Braemuir Metals Plc",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF FINANCIAL POSITION", "(in thousands of U.S. dollars)"),
                ("As at | Notes | December 31, 2024 | December 31, 2023",),
                """
Cash and cash equivalents | 4 | 15,022 | 13,310
Inventories | 6 | 8,114 | 7,905
Mineral properties | 9, 10 | 202,300 | 196,450
Total assets | | 240,900 | 231,020
Loans payable | 12 | 44,000 | 47,500
Total equity | | 171,800 | 160,230
""",
            )
        ],
        [
            ("What were Braemuir Metals' inventories at December 31, 2024?", 8_114e3),
            ("What was Braemuir Metals' cash and cash equivalents at December 31, 2023?", 13_310e3),
            ("What were Braemuir Metals' mineral properties at December 31, 2024?", 202_300e3),
            ("What were Braemuir Metals' loans payable at December 31, 2024?", 44_000e3),
        ],
        form="20-F",
        style="plain",
    ),
    Made(
        "Cardington Silks SA",
        [
            Sheet(
                ("CONSOLIDATED INCOME STATEMENT", "(in millions of euros)"),
                ("Year ended December 31, | Note | 2024 | 2023 | 2022",),
                """
Revenue | 3 | 1,204 | 1,133 | 1,090
Cost of sales | 4 | (702) | (655) | (640)
Operating profit | 5 | 212 | 190 | 181
Finance costs | 7 | (31) | (28) | (22)
Income tax expense | 8 | (44) | (39) | (37)
Profit for the year | | 137 | 123 | 122
""",
            )
        ],
        [
            ("What was Cardington Silks' revenue in 2024?", (1_204e6, "EUR")),
            ("What was Cardington Silks' operating profit in 2023?", (190e6, "EUR")),
            ("What was Cardington Silks' income tax expense in 2022?", "€37 million"),
        ],
        form="20-F",
        style="pdf",
    ),
    Made(
        "Ferndown Shipping Corp",
        [
            Sheet(
                ("CONSOLIDATED BALANCE SHEETS", "(In thousands of U.S. dollars)"),
                (" | (Note) | 2024 | 2023",),
                """
Vessels, net | (5) | 640,110 | 655,900
Trade receivables | (6) | 21,030 | 19,480
Total assets | | 722,600 | 730,110
Long-term debt | (11) | 310,050 | 333,200
""",
            )
        ],
        [
            ("What were Ferndown Shipping's vessels, net at the end of 2024?", 640_110e3),
            ("What was Ferndown Shipping's long-term debt at December 31, 2024?", 310_050e3),
            ("What were Ferndown Shipping's trade receivables at December 31, 2023?", 19_480e3),
        ],
        form="20-F",
        style="wide",
    ),
)

PER_SHARE: Final = (
    Made(
        "Kingsnympton Radio Inc",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF INCOME", "(In millions)"),
                YEARS,
                """
Revenues | 2,310 | 2,205 | 2,118
Net income | 240 | 221 | 209
Earnings per common share:
  Basic | 2.44 | 2.21 | 2.05
  Assuming dilution | 2.40 | 2.18 | 2.02
Cash dividends declared per common share | 0.88 | 0.84 | 0.80
Weighted average shares:
  Basic | 98.4 | 100.0 | 102.0
  Assuming dilution | 100.1 | 101.4 | 103.5
""",
            )
        ],
        [
            ("What was Kingsnympton Radio's diluted EPS in 2024?", (2.40, "USD/share")),
            ("What was Kingsnympton Radio's basic EPS in 2023?", (2.21, "USD/share")),
            ("What were Kingsnympton Radio's dividends declared per share in 2022?", (0.80, "USD/share")),
            ("What were Kingsnympton Radio's diluted weighted average shares in 2024?", (100.1e6, "shares")),
        ],
        style="plain",
    ),
    Made(
        "Stanhoe Barges Inc",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(Amounts in thousands, except as noted)"),
                YEARS,
                """
Operating revenues | $ 71,400 | $ 70,100 | $ 68,800
Net income (loss) | $ (2,420) | $ 3,310 | $ 3,050
Amounts per share:
  Income from continuing operations | $ (0.31) | $ 0.33 | $ 0.30
  Income from discontinued operations | 0.06 | 0.08 | 0.08
  Net income (loss), basic and diluted | $ (0.25) | $ 0.41 | $ 0.38
  Dividends | $ 0.12 | $ 0.11 | $ 0.10
""",
            )
        ],
        [
            ("What was Stanhoe Barges' diluted EPS in 2024?", (-0.25, "USD/share")),
            ("What was Stanhoe Barges' net income in 2024?", -2_420e3),
            ("What were Stanhoe Barges' dividends per share in 2023?", 0.11),
            ("What was Stanhoe Barges' income from continuing operations per share in 2022?", 0.30),
        ],
        style="pdf",
    ),
    Made(
        "Yealmpton Seeds Co",
        [
            Sheet(
                (INCOME[0], "(Dollars in millions, except per-unit data)"),
                YEARS,
                """
Net sales | 910 | 890 | 860
Net income | 61 | 58 | 54
Per unit of limited partner interest:
  Net income, basic | 1.52 | 1.45 | 1.35
  Net income, diluted | 1.49 | 1.42 | 1.33
  Distributions declared | 1.10 | 1.05 | 1.00
Book value per unit | 14.20 | 13.90 | 13.40
""",
            )
        ],
        [
            ("What was Yealmpton Seeds' diluted net income per unit in 2024?", 1.49),
            ("What was Yealmpton Seeds' net income in 2024?", 61e6),
            ("What were Yealmpton Seeds' distributions declared per unit in 2023?", 1.05),
            ("What was Yealmpton Seeds' book value per unit in 2024?", 14.20),
        ],
    ),
)

SEPARATORS: Final = (
    Made(
        "Vierlanden Werke AG",
        [
            Sheet(
                ("CONSOLIDATED INCOME STATEMENT", "(in thousands of euros)"),
                ("Year ended December 31,*2", "2024 | 2023"),
                """
Revenue | 1.204.310 | 1.133.020
Cost of sales | (702.400) | (655.110)
Operating profit | 212.050 | 190.330
Profit for the year | 137.400 | 123.900
Basic earnings per share (in euros) | 1,37 | 1,24
""",
            )
        ],
        [
            ("What was Vierlanden Werke's revenue in 2024?", (1_204_310e3, "EUR")),
            ("What was Vierlanden Werke's profit for the year in 2023?", 123_900e3),
            ("What was Vierlanden Werke's basic EPS in 2024?", 1.37),
        ],
        form="20-F",
        style="plain",
    ),
    Made(
        "Tavastia Paper Oyj",
        [
            Sheet(
                ("CONSOLIDATED STATEMENT OF INCOME", "(EUR thousand)"),
                ("Year ended December 31,*3", "2024 | 2023 | 2022"),
                """
Sales | 2 310 400 | 2 205 100 | 2 118 900
Operating profit | 188 200 | 171 300 | 160 040
Finance costs | (12 300) | (11 010) | (9 870)
Profit for the period | 130 250 | 118 900 | 110 600
Earnings per share, basic, EUR | 1,62 | 1,48 | 1,38
""",
            )
        ],
        [
            ("What were Tavastia Paper's sales in 2024?", (2_310_400e3, "EUR")),
            ("What was Tavastia Paper's operating profit in 2022?", 160_040e3),
            ("What was Tavastia Paper's profit for the period in 2024?", 130_250e3),
        ],
        form="20-F",
        style="plain",
    ),
    Made(
        "Aargauer Uhren AG",
        [
            Sheet(
                ("CONSOLIDATED INCOME STATEMENT", "(in thousands of Swiss francs)"),
                ("2024 | 2023",),
                """
Net sales | 410'250 | 398'110
Operating result | 51'040 | 48'330
Net profit | 40'120 | 37'900
""",
            )
        ],
        [
            ("What were Aargauer Uhren's net sales in 2024?", (410_250e3, "CHF")),
            ("What was Aargauer Uhren's net profit in 2023?", 37_900e3),
        ],
        form="20-F",
        style="pdf",
    ),
)

NEGATIVES: Final = (
    Made(
        "Oakhanger Bolts Inc",
        [
            Sheet(
                INCOME,
                YEARS,
                """
Revenues | 71,020 | 69,880 | 68,100
Operating income (loss) | 3,110- | 2,040 | 1,980
Interest expense | 1,205- | 1,180- | 1,150-
Net income (loss) | 4,020- | 610 | 590
""",
            )
        ],
        [
            ("What was Oakhanger Bolts' net income in 2024?", -4_020e3),
            ("What was Oakhanger Bolts' operating income in 2024?", -3_110e3),
            ("What was Oakhanger Bolts' operating income in 2023?", 2_040e3),
        ],
        style="plain",
    ),
    Made(
        "Rookley Tiles Corp",
        [
            Sheet(
                INCOME,
                YEARS,
                """
Net sales | 52,300 | 50,110 | 49,020
Operating loss | [2,210] | [1,980] | [1,020]
Net loss | [2,905] | [2,410] | [1,330]
""",
            )
        ],
        [
            ("What was Rookley Tiles' net loss in 2024?", -2_905e3),
            ("What was Rookley Tiles' operating loss in 2023?", -1_980e3),
        ],
        style="plain",
    ),
    Made(
        "Quainton Bricks Inc",
        [
            Sheet(
                INCOME,
                YEARS,
                """
Net sales | $ 33,100 | $ 31,900 | $ 30,400
Income (loss) before income taxes | −1,310 | 2,200 | (1,900)
Net income (loss) | $ −1,010 | $ 1,720 | $ (1,480)
""",
            )
        ],
        [
            ("What was Quainton Bricks' net income in 2024?", -1_010e3),
            ("What was Quainton Bricks' net income in 2022?", -1_480e3),
            ("What was Quainton Bricks' income before income taxes in 2024?", -1_310e3),
        ],
    ),
    Made(
        "Isfield Copper Inc",
        [
            Sheet(
                INCOME,
                YEARS,
                """
Revenues | 8,020 | 7,915 | 7,730
Operating income | 1,102- | 1,020 | 990
Net income | 905- | 770 | 745
""",
            )
        ],
        [
            ("What was Isfield Copper's net income in 2024?", -905e3),
            ("What were Isfield Copper's revenues in 2022?", 7_730e3),
        ],
        style="pdf",
    ),
)

KINDS: Final = {
    "dashes": DASHES,
    "footnote marks": FOOTNOTE_MARKS,
    "note columns": NOTE_COLUMNS,
    "per share": PER_SHARE,
    "separators": SEPARATORS,
    "negatives": NEGATIVES,
}

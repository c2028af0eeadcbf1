"""Kinds of columns in many wordings, the same figures in each: from these the faults of a kind were found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Final

from tests.small_filings.made import Gold, Made, Sheet, Style

_BEGINNINGS = re.findall(
    r"\w+",
    "Abbots Adle Blis Burwar Cadg Chedder Dane Elk Fern Gamling Harp Ivy Kes Lamb Mells Nether Oak Pens Quen Rush Sels "
    "Tarr Upham Wrang",
)
_NAMES = (f"{begin}{end}" for end in ("combe", "wick", "stowe", "thorpe") for begin in _BEGINNINGS)
_STYLES: Final[Iterator[Style]] = cycle(("wide", "plain", "pdf"))
_HTML: Final[Iterator[Style]] = cycle(("wide", "plain"))
_YEARS: Final = ("Year Ended December 31,*3", "2024 | 2023 | 2022")
_TRANSITION: Final = "TRANSITION REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934"


def _made(
    style: Style,
    sheet: Sheet,
    asked: Sequence[tuple[str, Gold]],
    form: str = "10-K",
    covers: str = "For the fiscal year ended December 31, 2024",
    title: str = "ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
) -> Made:
    name = next(_NAMES)
    return Made(
        f"{name} Works Ltd",
        [sheet],
        [(f"{q} of {name} Works?", gold) for q, gold in asked],
        form,
        covers,
        style,
        title=title,
    )


_STATED: Final = {
    "(in SEK million)": ("SEK", 1e6),
    "SEK m": ("SEK", 1e6),
    "(RMB in thousands)": ("CNY", 1e3),
    "RMB’000": ("CNY", 1e3),
    "£m": ("GBP", 1e6),
    "€ million": ("EUR", 1e6),
    "(Rs. in millions)": ("INR", 1e6),
    "HK$’000": ("HKD", 1e3),
    "(Expressed in thousands of U.S. dollars)": ("USD", 1e3),
    "US$ million": ("USD", 1e6),
    "ThCh$": ("CLP", 1e3),
    "(in billions of Colombian pesos)": ("COP", 1e9),
    "R million": ("ZAR", 1e6),
    "A$’000": ("AUD", 1e3),
    "(NIS in thousands)": ("ILS", 1e3),
    "(Millions of yen)": ("JPY", 1e6),
    "CHF million": ("CHF", 1e6),
    "(EUR thousand)": ("EUR", 1e3),
    "(In thousands of reais - R$)": ("BRL", 1e3),
    "(in thousands)": ("XXX", 1e3),
    "(Amounts expressed in millions of Mexican pesos (Ps.))": ("MXN", 1e6),
    "(S$ in thousands)": ("SGD", 1e3),
}
_INTERNATIONAL = """
Revenue | 345,670 | 310,220 | 290,110
Cost of sales | (201,110) | (190,330) | (180,220)
Operating profit | 60,110 | 52,330 | 48,870
Profit for the year | 41,020 | 36,330 | 33,110
"""
CURRENCIES: Final = tuple(
    _made(
        next(_STYLES),
        Sheet(("CONSOLIDATED STATEMENTS OF PROFIT OR LOSS", line), _YEARS, _INTERNATIONAL),
        [
            ("What was the revenue in 2024", (345_670 * scale, code)),
            ("What was the profit for the year in 2023", 36_330 * scale),
        ],
        "20-F",
    )
    for line, (code, scale) in _STATED.items()
)

_RESTATED = (
    (
        "Year Ended December 31, 2023*3 | Year Ended December 31, 2022*3",
        "As Reported | Adjustment | As Restated | As Reported | Adjustment | As Restated",
    ),
    (
        "2023*3 | 2022*3",
        "Previously Reported | Effect of Change | As Adjusted | Previously Reported | Effect of Change | As Adjusted",
    ),
)
RESTATED: Final = tuple(
    _made(
        style,
        Sheet(
            ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In millions)"),
            heads,
            """
Revenues | 210 | (8) | 202 | 190 | (5) | 185
Operating income | 33 | (7) | 26 | 30 | (4) | 26
Net income | 22 | (5) | 17 | 20 | (3) | 17
""",
        ),
        [
            ("What was the restated operating income in 2023", 26e6),
            ("What were the revenues in 2023 as previously reported", 210e6),
        ],
        covers="For the fiscal year ended December 31, 2023",
    )
    for heads in _RESTATED
    for style in ("wide", "plain")
)

_SUCCESSORS = (
    (
        "Successor | Predecessor*2",
        "June 12, 2024 | January 1, 2024 | Year Ended",
        "through | through | December 31,",
        "December 31, 2024 | June 11, 2024 | 2023",
    ),
    (
        "Successor Company | Predecessor Company*2",
        "July 1, 2024 to December 31, 2024 | January 1, 2024 to June 30, 2024 | For the year ended December 31, 2023",
    ),
    (
        "Nine Months Ended December 31, | Three Months Ended March 31, | Year Ended December 31,",
        "2024 | 2024 | 2023",
        "Successor | Predecessor | Predecessor",
    ),
    (
        "Post-emergence | Pre-emergence*2",
        "Nine Months Ended December 31, 2024 | Three Months Ended March 31, 2024 | Year Ended December 31, 2023",
    ),
)
_OPERATIONS = """
Revenues | $ 402,110 | $ 190,020 | $ 610,040
Cost of revenues | 220,110 | 110,020 | 330,120
Operating income | 51,000 | (12,200) | 66,100
Net income (loss) | $ 30,120 | $ (404,010) | $ 31,870
"""
SUCCESSORS: Final = tuple(
    _made(
        style,
        Sheet(("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands)"), heads, _OPERATIONS),
        [
            ("What were the revenues in 2024", None),
            ("What was the gross margin in 2024", None),
            ("By how much did the revenues change from 2023 to 2024 in the case", None),
            ("What was the operating income in 2023", 66_100e3),
        ],
    )
    for heads in _SUCCESSORS
    for style in ("wide", "plain")
)
INCEPTION: Final = tuple(
    _made(
        next(_HTML),
        Sheet(
            ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands)"),
            (head,),
            """
Revenues | $ 40,110
Cost of revenues | 22,020
Operating income | 5,100
Income tax expense | 1,010
Net income | $ 3,012
""",
        ),
        [
            ("What were the revenues in 2024", None),
            ("What were the revenues for the period from May 6, 2024 to December 31, 2024", 40_110e3),
        ],
    )
    for head in (
        "Inception (May 6, 2024) through December 31, 2024",
        "Period from May 6, 2024 (Inception) to December 31, 2024",
    )
)

_TRANSITIONS = (
    ("10-KT", ("Nine Months Ended December 31, 2024 | Year Ended March 31, 2024 | Year Ended March 31, 2023",)),
    ("10-K", ("Transition Period Ended December 31, | Fiscal Years Ended March 31,*2", "2024 | 2024 | 2023")),
    ("10-KT", ("Transition Period | Fiscal Year | Fiscal Year", "2024 | 2024 | 2023")),
    (
        "10-KT",
        (
            "April 1, 2024 to<br/>December 31, 2024 | April 1, 2023 to<br/>March "
            "31, 2024 | April 1, 2022 to<br/>March 31, 2023",
        ),
    ),
    ("10-KT", ("39 Weeks Ended December 31, 2024 | 52 Weeks Ended March 31, 2024 | 52 Weeks Ended March 31, 2023",)),
)
TRANSITIONS: Final = tuple(
    _made(
        next(_HTML),
        Sheet(
            ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands)"),
            heads,
            """
Revenues | $ 90,110 | $ 118,400 | $ 104,900
Cost of revenues | 50,110 | 64,020 | 58,120
Gross profit | 40,000 | 54,380 | 46,780
Operating income | 11,000 | 16,200 | 13,100
Net income | $ 7,120 | $ 10,010 | $ 8,870
""",
        ),
        [
            ("What were the revenues for the transition period ended December 31, 2024", 90_110e3),
            ("What was the net income in the nine-month transition period", 7_120e3),
            ("What was the gross profit from April 1, 2024 to December 31, 2024", 40_000e3),
            ("What were the revenues in the fiscal year ended March 31, 2024", 118_400e3),
            ("What was the operating income in fiscal 2023", 13_100e3),
        ],
        form,
        "For the transition period from April 1, 2024 to December 31, 2024",
        _TRANSITION,
    )
    for form, heads in _TRANSITIONS
)

_NOTES: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("typed", ("Note | December 31, 2024 | December 31, 2023",), 1),
    ("typed", ("Ref. | 31 December 2024 | 31 December 2023",), 3),
    ("pdf", ("Note No. | 31 December 2024 | 31 December 2023",), 3),
    ("plain", (" | Notes | 2024 | 2023",), 3),
    ("wide", (" | | Dec. 31, 2024 | Dec. 31, 2023",), 3),
)
NOTES: Final = tuple(
    Made(
        f"{name} Mines Plc",
        [
            Sheet(
                ("CONSOLIDATED STATEMENTS OF FINANCIAL POSITION", "(in thousands of U.S. dollars)"),
                heads,
                """
Cash and cash equivalents | 4 | 15,022 | 13,310
Trade receivables | 5 | 9,120 | 8,870
Inventories | 6 | 8,114 | 7,905
Total current assets | | 33,010 | 31,220
Property, plant and equipment | 7, 8 | 82,075 | 79,330
Intangible assets | 9(a) | 5,123 | 5,330
Total assets | | 131,020 | 126,110
Trade payables | 12 | 11,020 | 10,870
Total equity | 15 | 70,110 | 66,330
""",
                spaced=spaced,
            )
        ],
        [
            (f"What was {name} Mines' property, plant and equipment at December 31, 2024?", 82_075e3),
            (f"What were {name} Mines' inventories at December 31, 2023?", 7_905e3),
            (f"What was {name} Mines' total equity at December 31, 2024?", 70_110e3),
        ],
        "20-F",
        style=style,  # type: ignore[arg-type]
    )
    for (style, heads, spaced), name in zip(_NOTES, _NAMES, strict=False)
)

KINDS: Final = {
    "currencies": CURRENCIES,
    "restated": RESTATED,
    "successors": SUCCESSORS,
    "inception": INCEPTION,
    "transitions": TRANSITIONS,
    "notes": NOTES,
}

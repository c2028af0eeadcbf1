import datetime as dt

import pytest

from finray.filings.cover.release import read_release

BODY = "\nNet sales were $1 million. Revenue grew. Net income fell. EPS was $1.00 per share. Results follow.\n"


@pytest.mark.parametrize(
    ("text", "company", "ticker", "period_end", "year", "quarter"),
    [
        (
            "Acme Pop Reports Second-Quarter 2023 Results\nPURCHASE, N.Y. - July 13, 2023 - Acme Pop, Inc. "
            "(NASDAQ: POP) today "
            "reported results for the second quarter 2023. 24 Weeks Ended June 17, 2023, June 17, 2023",
            "Acme Pop, Inc.", "POP", dt.date(2023, 6, 17), 2023, "Q2",
        ),
        (
            "March 9, 2023\nAcme Beauty Announces Fourth Quarter\nFiscal 2022 Results\nBOLING, Ill.--(BUSINESS "
            "WIRE)-- Acme Beauty, "
            "Inc. (NASDAQ: ACM) today announced results for the thirteen weeks ended January 28, 2023. January "
            "28, 2023",
            "Acme Beauty, Inc.", "ACM", dt.date(2023, 1, 28), 2022, "Q4",
        ),
        (
            "Acme Reports Better Second Quarter Results\nMINNEAPOLIS, August 29, 2023 -- Acme Co., Inc. (NYSE: "
            "ACM) today announced "
            "results for the 13-week second quarter ended July 29, 2023 (“Q2 FY24”).",
            "Acme Co., Inc.", "ACM", dt.date(2023, 7, 29), 2024, "Q2",
        ),
        (
            "ACME MILLS REPORTS RESULTS FOR FISCAL 2023 THIRD QUARTER\nMINNEAPOLIS (March 23, 2023) — Acme "
            "Mills, Inc. [NYSE: ACM] "
            "today reported results for its third quarter ended February 26, 2023.",
            "Acme Mills, Inc.", "ACM", dt.date(2023, 2, 26), 2023, "Q3",
        ),
        (
            "AMD Reports Second Quarter 2022 Financial Results\nSANTA CLARA – Aug. 02, 2022 – AMD (NASDAQ: AMD) "
            "today announced\n"
            "Acme Micro Devices, Inc.\nCONDENSED CONSOLIDATED STATEMENTS OF OPERATIONS\n"
            "Three months ended June 25, 2022",
            "Acme Micro Devices, Inc.", "AMD", dt.date(2022, 6, 25), 2022, "Q2",
        ),
        (
            "July 19, 2023\nFellow shareholders,\nQ2'23 was good.\nAcmeflix, Inc.\nConsolidated Statements of "
            "Operations\n"
            "Three Months Ended June 30, 2023",
            "Acmeflix, Inc.", None, dt.date(2023, 6, 30), 2023, "Q2",
        ),
        (
            "Acme reports fiscal 2023 results and provides outlook for fiscal 2024\nJune 2023 quarter: Acme plc "
            "UK. Acme Group.",
            "Acme plc", None, dt.date(2023, 6, 30), 2023, "Q4",
        ),
    ],
)  # fmt: skip
def test_releases(text: str, company: str, ticker: str | None, period_end: dt.date, year: int, quarter: str) -> None:
    facts = read_release([text + BODY])
    assert facts is not None
    assert (facts.company, facts.ticker) == (company, ticker)
    assert (facts.period_end, facts.fiscal_year, facts.fiscal_period) == (period_end, year, quarter)


@pytest.mark.parametrize(
    "text",
    ["", "Acme announces a new chief executive. The board is pleased.", "Quarter pound of butter: results vary" + BODY],
)
def test_other_texts_are_not_releases(text: str) -> None:
    assert read_release([text]) is None

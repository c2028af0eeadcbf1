import datetime as dt

import pytest

from finray.core.filing import ParsedFiling
from finray.core.settings import FilingSettings
from finray.filings.read import parse_filing

HEADER = """<SEC-DOCUMENT>0000900{number}-25-000001.txt : 20250220
<SEC-HEADER>0000900{number}-25-000001.hdr.sgml : 20250220
ACCESSION NUMBER:\t\t0000900{number}-25-000001
CONFORMED SUBMISSION TYPE:\t{form}
PUBLIC DOCUMENT COUNT:\t\t2
CONFORMED PERIOD OF REPORT:\t{period}
FILED AS OF DATE:\t\t20250220

FILER:

\tCOMPANY DATA:
\t\tCOMPANY CONFORMED NAME:\t\t\tMORVAH PUMPS INC
\t\tCENTRAL INDEX KEY:\t\t\t0000900{number}
\t\tFISCAL YEAR END:\t\t\t1231
</SEC-HEADER>
"""
MAIN = "<html><body><p>The report of Morvah Pumps, Inc. See Exhibit.</p></body></html>"
INCOME = {
    "Revenues": ("120,450", "110,320"),
    "Cost of revenues": ("(70,210)", "(65,110)"),
    "Operating income": ("30,130", "26,205"),
    "Income tax expense": ("(6,010)", "(5,225)"),
    "Net income": ("21,000", "18,000"),
    "Diluted earnings per share": ("2.10", "1.80"),
    "Basic earnings per share": ("2.20", "1.90"),
}
ROWS = "".join(f"<tr><td>{label}</td><td>{new}</td><td>{old}</td></tr>\n" for label, (new, old) in INCOME.items())
BODY = f"""<p>Consolidated Statements of Operations</p>
<p>(In thousands, except per share data)</p>
<table><tr><td></td><td colspan="2">Year Ended December 31,</td></tr><tr><td></td><td>2024</td><td>2023</td></tr>
{ROWS}</table>"""
STATEMENTS = f"<html><body>{BODY}</body></html>"
RELEASE = f"""<html><body><p>Morvah Pumps Reports Fourth Quarter and Full Year 2024 Results</p>
<p>TOWN, February 20, 2025 - Morvah Pumps, Inc. (NYSE: MVP) today announced results for the fourth quarter and year
ended December 31, 2024. Revenue grew. Net income was $21.0 million. Earnings per share were $2.10. Results were good.
</p>{BODY}</body></html>"""


def submission(form: str, *documents: tuple[str, str], period: str = "20241231") -> str:
    blocks = "".join(
        f"<DOCUMENT>\n<TYPE>{kind}\n<SEQUENCE>{number}\n<FILENAME>{number}.htm\n<TEXT>\n{text}\n</TEXT>\n</DOCUMENT>\n"
        for number, (kind, text) in enumerate(documents, 1)
    )
    return f"{HEADER.format(number=771, form=form, period=period)}{blocks}</SEC-DOCUMENT>\n"


def read(text: str) -> ParsedFiling:
    return parse_filing(text.encode(), "morvah.txt", FilingSettings())


def revenues(parsed: ParsedFiling) -> list[tuple[int, float, str | None]]:
    return [(item.page, item.value, item.statement) for item in parsed.line_items if item.label == "Revenues"]


@pytest.mark.parametrize("kind", ["EX-13", "EX-13.1", "EX-99.2", "EX-20"])
def test_statements_in_an_exhibit_are_those_of_the_report(kind: str) -> None:
    others = [("EX-21.1", "<html>Subsidiaries</html>"), (kind, STATEMENTS), ("EX-31.1", "<html>I certify</html>")]
    parsed = read(submission("10-K", ("10-K", MAIN), *others, ("GRAPHIC", "begin 644 a.jpg\nM_]\nend")))
    assert [(page.page, page.document, page.statement) for page in parsed.pages] == [
        (0, None, None),
        (1, kind, "income"),
    ]
    assert revenues(parsed) == [(1, 120_450_000, "income"), (1, 110_320_000, "income")]
    assert {item.months for item in parsed.line_items} == {12}
    filing = parsed.filing
    assert (filing.form, filing.period_end, filing.company) == ("10-K", dt.date(2024, 12, 31), "MORVAH PUMPS INC")
    assert filing.left_out == ("EX-21.1", "EX-31.1")


def test_an_exhibit_may_be_typed() -> None:
    typed = """                     MORVAH PUMPS INC
           CONSOLIDATED STATEMENTS OF INCOME
                (In thousands)
                           Years ended December 31,
                               2024        2023
Revenues                   $ 120,450   $ 110,320
Cost of revenues              70,210      65,110
Operating income              30,130      26,205
Income taxes                   6,010       5,225
Net income                 $  21,000   $  18,000
Net income per share       $    2.10   $    1.80
Diluted                    $    2.00   $    1.70
"""
    parsed = read(submission("10-K", ("10-K", MAIN), ("EX-13", typed), ("EX-27", "<SALES>   120,450\n<MULTIPLIER> 1")))
    assert revenues(parsed) == [(1, 120_450_000, "income"), (1, 110_320_000, "income")]
    assert parsed.filing.left_out == ("EX-27",)


def test_the_statements_of_another_company_are_not_primary() -> None:
    affiliate = STATEMENTS.replace("120,450", "999,450")
    parsed = read(submission("10-K", ("10-K", STATEMENTS), ("EX-99.1", affiliate)))
    assert [page.statement for page in parsed.pages] == ["income", None]
    assert [value for _, value, statement in revenues(parsed) if statement] == [120_450_000, 110_320_000]


@pytest.mark.parametrize("kind", ["EX-99", "EX-99.1"])
def test_a_current_report_is_about_the_period_of_its_release(kind: str) -> None:
    text = submission("8-K", ("8-K", MAIN), (kind, RELEASE), ("EX-10", "<p>A lease</p>"), period="20250220")
    parsed = read(text)
    filing = parsed.filing
    assert (filing.form, filing.period_end) == ("8-K", dt.date(2025, 2, 20))
    assert (filing.fiscal_year, filing.fiscal_period) == (2024, "Q4")
    assert (filing.results_end, filing.closes) == (dt.date(2024, 12, 31), dt.date(2024, 12, 31))
    assert filing.left_out == ("EX-10",)
    assert [value for _, value, _ in revenues(parsed)] == [120_450_000, 110_320_000]


def test_statements_date_a_current_report_without_a_release() -> None:
    parsed = read(submission("6-K", ("6-K", MAIN), ("EX-99.1", STATEMENTS), period="20250220"))
    assert parsed.filing.results_end == dt.date(2024, 12, 31)
    assert (parsed.filing.fiscal_year, parsed.filing.fiscal_period) == (2024, "Q4")


def test_an_exhibit_that_cannot_be_read_is_left_out() -> None:
    long = "<p>" + "word " * 2000 + "</p>"
    settings = FilingSettings().model_copy(update={"max_unpaged_characters": 5_000})
    text = submission("8-K", ("8-K", MAIN), ("EX-99.1", long), ("EX-99.2", "<p>Short</p>"), period="20250220")
    parsed = parse_filing(text.encode(), "x.txt", settings)
    assert [page.document for page in parsed.pages] == [None, "EX-99.2"]
    assert parsed.filing.left_out == ("EX-99.1",)

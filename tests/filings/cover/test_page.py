import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS
from finray.filings.cover.facts import Facts
from finray.filings.cover.page import read_cover

COVER = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
Washington, D.C. 20549
FORM {form}
{note}
☒ {kind} REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934
For the {period} ended {date}
OR
☐ TRANSITION REPORT PURSUANT TO SECTION 13 OR 15(d)
For the transition period from            to             .
Commission File Number 1-9595
{name}
{caption}
Minnesota
41-0907483
(State or other jurisdiction of incorporation)
(I.R.S. Employer Identification No.)
7601 Penn Avenue South
(Former name, former address and former fiscal year, if changed since last report)
Title of each class
Trading Symbol(s)
Name of each exchange on which registered
Common Stock, par value $0.10 per share
ACMX
NYSE
"""
CAPTION = "(Exact name of registrant as specified in its charter)"


def cover(form: str = "10-K", date: str = "December 31, 2022", name: str = "ACME WIDGETS, INC.", *,
          caption: str = CAPTION, note: str = "(Mark One)") -> str:  # fmt: skip
    annual = form.startswith("10-K")
    return COVER.format(form=form, kind="ANNUAL" if annual else "QUARTERLY", date=date, name=name, caption=caption,
                        note=note, period="fiscal year" if annual else "quarterly period")  # fmt: skip


def test_an_annual_reports_cover() -> None:
    facts = read_cover([cover(), "ACME WIDGETS, INC. (“Acme,” the “Company”) makes widgets."])
    assert (facts.company, facts.form, facts.ticker, facts.amendment) == ("ACME WIDGETS, INC.", "10-K", "ACMX", False)
    assert (facts.period_end, facts.fiscal_year, facts.fiscal_period) == (dt.date(2022, 12, 31), 2022, "FY")
    assert (facts.fiscal_year_end, facts.aliases) == ("12-31", ("Acme", "ACME WIDGETS"))


def test_a_quarterly_reports_cover() -> None:
    text = "three and six months ended December 31, 2022 ... as of December 31, 2022 and June 30, 2022"
    facts = read_cover([cover("10-Q", "December 31, 2022"), text])
    assert (facts.form, facts.fiscal_period, facts.fiscal_year, facts.fiscal_year_end) == ("10-Q", "Q2", 2023, "06-30")


@pytest.mark.parametrize(
    ("form", "note"), [("10-K/A", "(Mark One)"), ("10-K", "(Amendment No. 1)"), ("10-K / A", "Amendment No. 2")]
)
def test_an_amendment_names_what_it_amends(form: str, note: str) -> None:
    facts = read_cover([cover(form, note=note)])
    assert (facts.form, facts.amendment, facts.amends) == ("10-K/A", True, "10-K 2022-12-31")


@pytest.mark.parametrize(
    ("printed", "company"),
    [
        ("ACME MICRO\nDEVICES, INC.", "ACME MICRO DEVICES, INC."),
        ("ACME\nPLC", "ACME PLC"),
        ("SMITH &\nSMITH", "SMITH & SMITH"),
        ("ACME RESORTS\nINTERNATIONAL", "ACME RESORTS INTERNATIONAL"),
        ("____________\nAcme   Chase & Co.\n__________", "Acme Chase & Co."),
        ("3A COMPANY", "3A COMPANY"),
    ],
)
def test_names_are_read_over_lines_and_rules(printed: str, company: str) -> None:
    assert read_cover([cover(name=printed)]).company == company


def test_a_name_printed_as_a_picture_is_read_from_the_signature_page() -> None:
    assert (
        read_cover([cover(name=""), "Item 1", "SIGNATURES\nACME WIDGETS CO\n(Registrant)\nBy:"]).company
        == "ACME WIDGETS CO"
    )


def test_a_cover_without_the_names_caption() -> None:
    assert read_cover([cover(name="ACME CORPORATION\nWASHINGTON", caption="")]).company == "ACME CORPORATION"


def test_co_registrants_share_a_table() -> None:
    page = cover(name="Commission File Number | Exact name of registrants as specified in their charters | I.R.S.\n"
                 "001-1234 | ACME POWER, INC. | 41-1\n001-1235 | ACME GAS COMPANY | 41-2", caption="")  # fmt: skip
    assert read_cover([page]).company == "ACME POWER, INC."


@pytest.mark.parametrize(
    ("lines", "day"),
    [
        ("Date of Report (Date of earliest event reported): May 3, 2023", 3),
        ("Date of Report (Date of earliest event reported)\nMay 5, 2023 (May 3, 2023)", 3),
        ("May 3, 2023\nDate of Report (Date of earliest event reported)", 3),
    ],
)
def test_a_current_reports_period_is_the_earliest_event(lines: str, day: int) -> None:
    page = f"SECURITIES AND EXCHANGE COMMISSION\nFORM 8-K\nCURRENT REPORT\n{lines}\nAcme, Inc.\n{CAPTION}\nDelaware"
    facts = read_cover([page])
    assert (facts.company, facts.form, facts.period_end) == ("Acme, Inc.", "8-K", dt.date(2023, 5, day))
    assert facts.fiscal_period is None


def test_an_annual_report_to_holders_wraps_a_cover() -> None:
    facts = read_cover(["2022 Annual Report", "Dear shareholders,", cover()])
    assert (facts.form, facts.fiscal_year) == (ANNUAL_REPORT_TO_HOLDERS, 2022)
    assert read_cover(["2022\nAnnual Report on Form 10-K", cover()]).form == "10-K"


def test_columns_may_put_words_between_caption_and_date() -> None:
    page = cover("10-Q").replace("ended December 31, 2022", "ended\nCommission file\nMarch 31, 2021\nnumber 1-5805")
    assert read_cover([page]).period_end == dt.date(2021, 3, 31)


def test_a_recipe_is_not_a_filing() -> None:
    assert read_cover(["Apple pie\nTake 3 apples. Results vary by quarter of an apple. Form 2 balls."]) == Facts()


@pytest.mark.parametrize(
    ("printed", "form"),
    [("10 - K", "10-K"), ("10k", "10-K"), ("10-K405", "10-K405"), ("10-KT", "10-KT"), ("l0-K", "10-K"),
     ("10–K/A", "10-K/A")],
)  # fmt: skip
def test_forms_are_spelled_one_way(printed: str, form: str) -> None:
    assert read_cover([cover().replace("FORM 10-K", f"Form {printed}")]).form == form


@given(st.data())
def test_mutated_covers_are_read_or_not(data: st.DataObject) -> None:
    text = cover()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 200)))
    read_cover([text[:start] + data.draw(st.text(max_size=30)) + text[end:]])


@pytest.mark.parametrize("unit", ["(exact name of ", "fiscal year ended ", "Form 10-K ", "first quarter ", "A",
                                  " ", "(", "Acme Inc. (", "January ", "1-", "( registrant )\n", "fiscal 2020 "]
)  # fmt: skip
def test_repetitive_text_takes_no_undue_time(unit: str) -> None:
    read_cover([cover() + unit * (60_000 // len(unit)), unit * (60_000 // len(unit))])
    read_cover([unit * (60_000 // len(unit))])


@pytest.mark.slow
@pytest.mark.shared
def test_names_agree_on_real_filings(shared_data: Path) -> None:
    pymupdf = pytest.importorskip("pymupdf")
    for path in sorted((shared_data / "financebench" / "pdfs").glob("*_10K.pdf"))[::12]:
        with pymupdf.open(path) as document:
            facts = read_cover([page.get_text() for page in document])
        company, year, *_ = path.stem.split("_")
        assert facts.form == "10-K"
        assert facts.fiscal_year == int(year)
        assert facts.company is not None
        names = ["".join(filter(str.isalnum, name.upper())) for name in (facts.company, *facts.aliases)]
        assert any(company in name for name in names)

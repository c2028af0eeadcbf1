import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.question.companies.catalog import CompanyCatalog
from finray.question.companies.company_groups import core_name


def filing(number: int, company: str, **facts: object) -> Filing:
    return Filing(
        filing_id=f"f{number}",
        doc_name=f"d{number}",
        source_uri="",
        content_sha256="",
        company=company,
        form="10-K",
        **facts,  # type: ignore[arg-type]
    )


CATALOG = CompanyCatalog(
    [
        filing(1, "BELMORA COLA CO /DE/", ticker="BLC", cik="0000000001"),
        filing(2, "Belmora Cola Company", cik="1"),
        filing(3, "American Vessel Company, Inc.", ticker="AVC"),
        filing(4, "American Estuary Company", ticker="AXY"),
        filing(5, "Quillstores, Inc.", ticker="QMT", commission_file_number="001-06991"),
        filing(6, "Quill-Mart Stores, Inc.", commission_file_number="001-06991"),
        filing(7, "Torvane plc", ticker="TVN"),
        filing(8, "Torvane Group", aliases=("Torvane",)),
        filing(9, "Harlow Foods International, Inc.", cik="9"),
        filing(10, "Harlow Foods, Inc.", cik="10"),
        filing(11, "VANDEREN.COM, INC.", ticker="VDRN"),
        filing(12, "Xylograph Corp", ticker="X"),
    ]
)
KEY = {
    name: CATALOG.company_of_filing[f"f{number}"]
    for name, number in {
        "cola": 1,
        "vessel": 3,
        "estuary": 4,
        "quill": 5,
        "torvane": 7,
        "international": 9,
        "foods": 10,
        "dotted": 11,
        "letter": 12,
    }.items()
}


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("What is Belmora-Cola's revenue?", ["cola"]),
        ("what did belmora cola earn", ["cola"]),
        ("revenue of BelmoraCola", ["cola"]),
        ("how much did vdrn sell in 2022?", ["dotted"]),
        ("$qmt's inventory", ["quill"]),
        ("what did torvane earn, in usd", ["torvane"]),
        ("american vessel's revenue", ["vessel"]),
        ("is the vessel of an american company listed?", []),
        ("torvane against american estuary: whose revenue grew?", ["torvane", "estuary"]),
        ("FY2022 capex of BLC", ["cola"]),
        ("Does American Vessel pay dividends?", ["vessel"]),
        ("Was AMVE profitable?", ["vessel"]),
        ("American Estuary and American Vessel", ["estuary", "vessel"]),
        ("Quill-Mart Stores' inventory", ["quill"]),
        ("Did Torvane grow?", ["torvane"]),
        ("Harlow Foods International revenue", ["international"]),
        ("revenue of Harlow Foods", ["foods"]),
        ("Is a vessel American?", []),
        ("What did Vanderen.com sell?", ["dotted"]),
        ("How much did Vanderen.com, Inc. earn?", ["dotted"]),
        ("What is X's operating margin?", ["letter"]),
        ("the revenue of X in 2022", ["letter"]),
        ("Is X the variable?", []),
    ],
)
def test_finds_companies_however_they_are_called(question: str, known: list[str]) -> None:
    assert list(CATALOG.mentions(question).known) == [KEY[name] for name in known]


def test_filings_of_one_company_are_joined_and_look_alikes_are_not() -> None:
    of = CATALOG.company_of_filing
    assert of["f1"] == of["f2"]
    assert of["f5"] == of["f6"]
    assert of["f7"] == of["f8"]
    assert of["f9"] != of["f10"]
    assert of["f3"] != of["f4"]


def test_a_ticker_of_two_companies_names_both() -> None:
    catalog = CompanyCatalog(
        [filing(1, "Torvane Inc.", ticker="TVN", cik="1"), filing(2, "Vanderen Corp", ticker="TVN", cik="2")]
    )
    assert catalog.mentions("What was TVN's revenue in 2021?").known == ("cik1", "cik2")
    assert catalog.mentions("what did tvn earn in 2021").known == (), "in lower case only one company is recognized"


def test_a_name_of_two_companies_names_both() -> None:
    catalog = CompanyCatalog([filing(1, "Torvane Inc.", cik="1"), filing(2, "Torvane Corp", cik="2")])
    assert catalog.mentions("What was Torvane's revenue in 2021?").known == ("cik1", "cik2")
    assert catalog.mentions("what did torvane earn in 2021").known == ("cik1", "cik2")


def test_companies_whose_names_have_no_latin_letters_are_apart() -> None:
    of = CompanyCatalog([filing(1, "東京電力"), filing(2, "日本電気"), filing(3, "日本電気")]).company_of_filing
    assert of["f1"] != of["f2"] == of["f3"]


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("What is Zephyrline's FY2022 revenue?", ("Zephyrline",)),
        ("What was the revenue of Norden Trust in FY2022?", ("Norden Trust",)),
        ("difference of EBITDA between Torvane and Zephyrline", ("Zephyrline",)),
        ("What was the EBITDA of Torvane in Q2 FY2022?", ()),
        ("What drove SG&A as a percent of net sales in FY2023?", ()),
        ("Cigna segment sales the six months ended July 27, 2025", ("Cigna",)),
        ("What is the total amount D.R. Horton may borrow?", ("D.R. Horton",)),
        ("What did Chipotle Mexican Grill's leases cost?", ("Chipotle Mexican Grill",)),
        ("What did Torvane pay to acquire its Micron shares?", ()),
        ("total amount of northern sales", ()),
    ],
)
def test_names_that_are_not_in_the_index_are_unknown(question: str, unknown: tuple[str, ...]) -> None:
    assert CATALOG.mentions(question).unknown == unknown


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Pespico", "PepsiCo, Inc."),
        ("Pepsco", "PepsiCo, Inc."),
        ("Pepsi", "PepsiCo, Inc."),
        ("Phizer", "Pfizer Inc."),
        ("Amercian Water Works", "American Water Works Company, Inc."),
        ("American Watr", "American Water Works Company, Inc."),
        ("Pepsi Bottling Group", None),
        ("Fizer", None),
        ("Visha", None),
    ],
)
def test_a_misspelled_name_is_that_of_the_only_company_it_resembles(name: str, known: str | None) -> None:
    names = ("PepsiCo, Inc.", "Pfizer Inc.", "American Water Works Company, Inc.", "Visa Inc.")
    catalog = CompanyCatalog([filing(number, company) for number, company in enumerate(names)])
    found = catalog.mentions(f"What was {name}'s revenue in 2021?").known
    assert [catalog.companies[key].name for key in found] == ([known] if known else [])


def test_a_misspelled_name_that_resembles_two_companies_is_unknown() -> None:
    catalog = CompanyCatalog([filing(1, "Torvane Inc."), filing(2, "Torvine Inc.")])
    assert catalog.mentions("What was Torvone's revenue?").known == ()


def test_core_names_drop_legal_suffixes_only() -> None:
    assert core_name("THE COCA-COLA COMPANY") == ("coca", "cola")
    assert core_name("AMAZON.COM, INC.") == ("amazon",)
    assert core_name("Inc.") == ("inc",)


@given(st.text(max_size=200))
def test_any_question_is_read(text: str) -> None:
    CATALOG.mentions(text)


def test_an_empty_index_has_no_companies() -> None:
    assert CompanyCatalog([]).mentions("What is Torvane's revenue?").unknown == ("Torvane",)

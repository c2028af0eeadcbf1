import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.cover.names import aliases_of, brand, only_suffix, short_names, tidy_name


@pytest.mark.parametrize(
    ("company", "expected"),
    [
        ("The Acme-Cola Company", "Acme-Cola"),
        ("ACMESHOP.COM, INC.", "ACMESHOP.COM"),
        ("Acme Chase & Co.", "Acme Chase"),
        ("Smith & Smith", "Smith & Smith"),
        ("ACME PLC", "ACME"),
        ("Company", "Company"),
    ],
)
def test_the_brand_is_the_name_without_its_legal_form(company: str, expected: str) -> None:
    assert brand(company) == expected


def test_short_names_stand_in_a_parenthesis_after_the_name() -> None:
    text = (
        "Acme Micro Devices, Inc. (“AMD,” the “Company,” “we” or “Acme Micro”) sells. The Acme Experience Manager "
        "(“AEM”) is a product. Acme Micro Devices, Inc. and its subsidiaries (the “Registrant”)."
    )
    assert short_names("Acme Micro Devices, Inc.", text) == ("AMD", "Acme Micro")


def test_aliases_hold_former_names_and_the_brand_but_not_the_name_itself() -> None:
    assert aliases_of("Acmeshop.com, Inc.", "", ("Toyshop Inc.",)) == ("Toyshop Inc.", "Acmeshop.com", "Acmeshop")
    assert aliases_of("Acme", "") == ()


def test_suffixes_alone_are_not_names() -> None:
    assert only_suffix("& COMPANY")
    assert only_suffix("PLC")
    assert not only_suffix("Acme Inc.")


@given(st.text(max_size=80))
def test_any_text_can_be_tidied_and_asked_for(text: str) -> None:
    assert "\n" not in tidy_name(text)
    aliases_of(tidy_name(text) or "x", text)

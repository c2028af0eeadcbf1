"""Large companies that an index may lack are recognized by their names."""

from __future__ import annotations

import pytest

from finray.core.data_files import shipped
from finray.question.companies.company_groups import core_name
from finray.question.companies.listed_names import listed_names
from finray.question.companies.name_words import common_words, name_words


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("UPS and FedEx: revenue in 2023?", ("UPS", "FedEx")),
        ("Johnson & Johnson sales", ("Johnson & Johnson",)),
        ("3M dividends", ("3M",)),
        ("what did ups earn", ()),
        ("Revenue growth in 2023", ()),
    ],
)
def test_listed_names_are_found_as_they_are_written(question: str, found: tuple[str, ...]) -> None:
    assert listed_names(question, name_words(question)) == found


def test_no_listed_name_is_a_common_word() -> None:
    names = shipped("finray.question.companies", "listed_names.txt").splitlines()
    assert names
    assert not {"".join(core_name(name)) for name in names} & common_words()

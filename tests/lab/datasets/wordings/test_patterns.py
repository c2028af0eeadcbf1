"""The wordings that ship: complete, with known slots, and each in one file only."""

from __future__ import annotations

import re

import pytest

from finray.lab.datasets.wordings.generate import KINDS
from finray.lab.datasets.wordings.patterns import PARTS, NamedConcept, Part, load_wordings, named_concepts

SLOTS = {
    "company", "company's", "metric", "was", "in", "for", "period", "part", "of_part", "to_part", "period0", "period1",
    "in0", "in1", "over", "under", "means", "label", "between",
}  # fmt: skip
PERIODS = {"y", "yy", "q", "ordinal", "months", "date"}
DATES = {"month", "mon", "day", "day:02", "m", "m:02", "cy"}


def slots(text: str) -> set[str]:
    return set(re.findall(r"\{([^{}]*)\}", text))


@pytest.mark.parametrize("part", PARTS)
def test_every_kind_has_wordings_whose_slots_are_known(part: Part) -> None:
    wordings = load_wordings(part)
    kinds = {*KINDS, "ratio_percent", "ratio_times", "value_money", "before", "between", "after"} - {"ratio"}
    assert kinds <= set(wordings.patterns)
    assert set(wordings.periods) == {"year", "quarter", "year_to_date", "year_end", "quarter_end"}
    for patterns in wordings.patterns.values():
        assert patterns
        assert all(slots(text) <= SLOTS for text in patterns), patterns
    assert all(slots(form) <= PERIODS for forms in wordings.periods.values() for form in forms)
    assert all(slots(form) <= DATES for form in wordings.dates)


def test_no_wording_is_in_two_files() -> None:
    found = [
        {text for group in (wordings.patterns, wordings.periods) for patterns in group.values() for text in patterns}
        for wordings in map(load_wordings, PARTS)
    ]
    assert len(set.union(*found)) == sum(map(len, found))


def test_names_of_concepts_are_phrases() -> None:
    concepts = named_concepts().values()
    assert len(concepts) > 70
    for concept in concepts:
        assert isinstance(concept, NamedConcept)
        assert concept.names or concept.part_names
        for name in (*concept.names, *concept.part_names):
            assert name == name.strip() and not name.endswith(".") and "{" not in name

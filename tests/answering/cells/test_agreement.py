"""Qualifiers of a phrase and of a cell, compared as masks, as sets of words would be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.answering.cells.agreement import Agreement, agreement
from finray.answering.cells.cell_words import Words
from finray.question.synonyms import qualifiers, words_of

NONE: frozenset[str] = frozenset()
SOME = st.frozensets(
    st.sampled_from([*sorted({word for line in qualifiers() for side in line for word in side}), "net sales", "2024"]),
    max_size=5,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(words_of(text))


def test_the_opposite_qualifier_contradicts() -> None:
    row = Words(_words("deferred federal tax"), NONE, NONE, NONE, NONE)
    found = agreement(_words("current federal tax"), row.label, row, note=True)
    assert (found.missing, found.contradicted, found.unasked_near) == (2, 1, 1)  # deferred is also a line of its own


@given(SOME, SOME, SOME, SOME, SOME, st.booleans())
def test_masks_count_as_sets_do(
    asked: frozenset[str],
    label: frozenset[str],
    section: frozenset[str],
    column: frozenset[str],
    caption: frozenset[str],
    note: bool,
) -> None:
    around = Words(label, NONE, section, column, caption)
    assert agreement(asked, label, around, note) == _by_sets(asked, label, around, note)


def _by_sets(asked: frozenset[str], label: frozenset[str], words: Words, note: bool) -> Agreement:
    near = label | words.column
    around = near | words.section | words.caption
    heading = words.section | (words.caption & _words("deferred unrecognized")) if note else NONE
    missing = contradicted = unasked_near = unasked_heading = 0
    for line in qualifiers():
        side = next((side for side in line if side & asked), None)
        if side is not None:
            others = NONE.union(*(other for other in line if other is not side))
            missing += not side & around
            contradicted += bool(others & near and not others & asked and not side & near)
        elif any(side & near for side in line):
            unasked_near += 1
        elif any(side & heading for side in line):
            unasked_heading += 1
    lent = bool(asked - label)
    return Agreement(
        missing, contradicted, unasked_near, 0 if lent else unasked_heading, unasked_heading if lent else 0
    )

"""The rows that come nearest to what the index lacks."""

from __future__ import annotations

from finray.answering.presence import near_rows
from finray.core.query import Query
from tests.answering.made_up_cells import ITEMS, facts, item, passage


def _near(*unexplained: str) -> tuple[str, ...]:
    repeated = item(9, 1, "FRITO SNACKS", 1.0)  # the first row of a label is shown
    return near_rows(Query("", "", unexplained=unexplained), [passage(3)], facts((*ITEMS, repeated)))


def test_rows_that_share_more_of_their_words_come_first() -> None:
    rows = ("“Share of units in hotels” (ACME_2022, p. 6)", "“Frito Snacks” (ACME_2022, p. 4)")
    assert _near("share", "units", "snacks") == rows
    assert _near("snacks") == (rows[1],)


def test_of_equal_rows_the_first_comes_first() -> None:
    assert [row.split("”")[0][1:] for row in _near("ratio", "losses")] == ["Impairment losses", "Leverage ratio"]


def test_at_most_three_rows_are_near() -> None:
    assert len(_near("beverages", "snacks", "granted", "losses", "ratio")) == 3


def test_nothing_is_near_without_shared_words_or_passages() -> None:
    assert _near("weather") == ()
    assert near_rows(Query("", "", unexplained=("snacks",)), [], facts()) == ()

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from finray.edgar import schedule
from finray.edgar.ledger import Entry, IndexRead, Ledger
from finray.edgar.listing import Listed, Quarter, day_unit, quarter_unit
from finray.edgar.selection import Selection

NOW = dt.datetime(2024, 5, 15, 3, tzinfo=dt.UTC)  # a Wednesday
WEEK = 7.0


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(str(tmp_path / "ledger"))


def since(day: str, until: str = "2024-05-15") -> Selection:
    return Selection(dt.date.fromisoformat(day), dt.date.fromisoformat(until), frozenset({"10-K"}))


def note(ledger: Ledger, selection: Selection, unit: str, first: dt.date, last: dt.date, at: dt.datetime = NOW) -> None:
    ledger.note_index(IndexRead(unit, selection.key(), first, last, 1, 1, False, {}, at))


def test_past_quarters_are_read_whole_and_the_current_one_by_day(ledger: Ledger) -> None:
    due = schedule.due(since("2023-11-10"), ledger, NOW, WEEK, everything=False)
    assert due[:3] == [Quarter(2023, 4), Quarter(2024, 1), Quarter(2024, 2)]
    assert due[3:] == list(schedule.weekdays(dt.date(2024, 4, 1), NOW.date()))


def test_days_are_read_again_for_a_week_and_quarters_once_a_week(ledger: Ledger) -> None:
    selection = since("2024-01-01")
    for day in schedule.weekdays(selection.since, NOW.date()):
        note(ledger, selection, day_unit(day), day, day)
    for quarter in (Quarter(2024, 1), Quarter(2024, 2)):
        note(ledger, selection, quarter_unit(quarter), quarter.first, quarter.last)
    due = schedule.due(selection, ledger, NOW, WEEK, everything=False)
    assert due == list(schedule.weekdays(dt.date(2024, 5, 8), NOW.date()))
    later = schedule.due(selection, ledger, NOW + dt.timedelta(days=7), WEEK, everything=False)
    assert later[:2] == [Quarter(2024, 1), Quarter(2024, 2)]


def test_a_partly_read_quarter_is_read_again_for_a_wider_range(ledger: Ledger) -> None:
    narrow, wide = since("2024-03-01"), since("2024-01-01")
    note(ledger, narrow, quarter_unit(Quarter(2024, 1)), dt.date(2024, 3, 1), dt.date(2024, 3, 31))
    assert Quarter(2024, 1) not in schedule.due(narrow, ledger, NOW, WEEK, everything=False)
    assert Quarter(2024, 1) in schedule.due(wide, ledger, NOW, WEEK, everything=False)


def test_the_watermark_is_the_day_before_the_first_incomplete_one(ledger: Ledger) -> None:
    selection = since("2024-05-01")

    def watermark(give_up_after: int = 10) -> dt.date | None:
        incomplete = schedule.incomplete_days(selection, ledger, NOW, give_up_after)
        return schedule.watermark(selection, NOW, incomplete)

    assert watermark() is None
    for day in schedule.weekdays(selection.since, NOW.date()):
        note(ledger, selection, day_unit(day), day, day)
    assert watermark() == NOW.date()
    day = dt.date(2024, 5, 7)
    listed = Listed("0000000001-24-000001", "10-K", "A", ("0000000001",), day, day, "")
    ledger.note(Entry(listed, "failed", "status 503", tries=1))
    assert watermark() == dt.date(2024, 5, 6)
    assert schedule.incomplete_days(selection, ledger, NOW, 10) == [day]
    # Given up, it holds up nothing any more.
    assert watermark(give_up_after=1) == NOW.date()


def test_a_day_without_an_index_is_a_holiday_after_two_days() -> None:
    assert not schedule.is_holiday(dt.date(2024, 5, 14), NOW)
    assert schedule.is_holiday(dt.date(2024, 5, 13), NOW)


def test_quarters() -> None:
    assert Quarter.of(dt.date(2024, 12, 31)) == Quarter(2024, 4)
    assert Quarter(2024, 4).next == Quarter(2025, 1)
    assert (Quarter(2024, 1).first, Quarter(2024, 1).last) == (dt.date(2024, 1, 1), dt.date(2024, 3, 31))


def test_weekdays() -> None:
    friday, monday = dt.date(2024, 5, 10), dt.date(2024, 5, 13)
    assert list(schedule.weekdays(friday, monday)) == [friday, monday]
    assert list(schedule.weekdays(monday, friday)) == []

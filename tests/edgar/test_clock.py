"""A wall clock that is wrong, jumps, or differs between machines: no sync takes incomplete days for complete, and with
the right clock the next one ends as if undisturbed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from finray.core.errors import UsageError
from finray.core.settings import EdgarSettings
from finray.edgar.http import EdgarHttp
from finray.edgar.limiter import LocalLimiter
from finray.lab.sample.edgar import Submission
from tests.edgar.syncer import Syncer
from tests.edgar.test_nights import moved
from tools.faults.edgar import LocalEdgar

Republish = Callable[[list[Submission]], None]
UTC = dt.UTC
MONDAY = dt.date(2024, 5, 6)


def at(day: dt.date, hour: int = 8) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(hour, 15), UTC)


def published(submissions: list[Submission], days: int) -> list[Submission]:
    """Filings of Monday and the days after it, as EDGAR has them when ``days`` of them are over."""
    spread = [moved(s, MONDAY + dt.timedelta(days=number % 4)) for number, s in enumerate(submissions)]
    return [s for s in spread if s.filed_at < MONDAY + dt.timedelta(days=days)]


@pytest.mark.parametrize("ahead", [dt.timedelta(days=20), dt.timedelta(days=200), dt.timedelta(days=3650)])
def test_a_clock_that_is_ahead_has_no_lasting_effect(
    edgar: LocalEdgar, republish: Republish, submissions: list[Submission], edgar_settings: EdgarSettings,
    tmp_path: Path, ahead: dt.timedelta,
) -> None:  # fmt: skip
    """Supposed holidays and past quarters are requested again. (If EDGAR sends the date, the sync stops: see below.)"""
    edgar_settings = edgar_settings.model_copy(update={"recheck_days": 1.0})
    wrong, right = (Syncer(str(tmp_path / name), edgar_settings) for name in ("wrong", "right"))
    republish(published(submissions, 1))
    ends = MONDAY + dt.timedelta(days=4)
    wrong(since=MONDAY, until=at(MONDAY + dt.timedelta(days=1)).date() + ahead, now=at(MONDAY, 23) + ahead)
    republish(published(submissions, 4))
    for sync in (wrong, right):
        last = sync(since=MONDAY, until=ends, now=at(ends))
    assert last.complete_until == ends - dt.timedelta(days=1)
    assert wrong.stored() == right.stored()
    assert wrong.rows() == right.rows()
    assert len(right.stored()) == len(published(submissions, 4))


def test_a_clock_set_back_or_to_1970_between_runs_and_two_machines_an_hour_apart(
    edgar: LocalEdgar,
    republish: Republish,
    submissions: list[Submission],
    edgar_settings: EdgarSettings,
    tmp_path: Path,
) -> None:
    wrong, right = (Syncer(str(tmp_path / name), edgar_settings) for name in ("wrong", "right"))
    republish(published(submissions, 4))
    ends = MONDAY + dt.timedelta(days=4)
    first = wrong(since=MONDAY, until=ends, now=at(MONDAY + dt.timedelta(days=2)))
    back = wrong(since=MONDAY, until=ends, now=at(MONDAY + dt.timedelta(days=2), 7))
    assert first.requests > back.requests, "an hour back: what was read is believed"
    nothing = wrong(since=MONDAY, until=ends, now=dt.datetime(1970, 1, 1, tzinfo=UTC))
    assert nothing.complete_until is None
    assert wrong(since=MONDAY, until=ends, now=at(ends)) != nothing
    right(since=MONDAY, until=ends, now=at(ends))
    assert wrong.stored() == right.stored()
    assert wrong.rows() == right.rows()


@pytest.mark.parametrize("off", [dt.timedelta(days=-1), dt.timedelta(days=1), dt.timedelta(days=20000)])
def test_a_sync_stops_if_edgar_sends_another_date(edgar_settings: EdgarSettings, off: dt.timedelta) -> None:
    date = dt.datetime.now(UTC) + off
    with EdgarHttp(edgar_settings, LocalLimiter(1000)) as http:
        sent = httpx.Response(
            404,
            headers={"Date": date.strftime("%a, %d %b %Y %H:%M:%S GMT")},
            request=httpx.Request("GET", "http://e/x"),
        )
        with pytest.raises(UsageError, match="Set the clock"):
            http._check(sent)

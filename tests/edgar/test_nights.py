"""Three nights with faults in each end where three quiet nights end."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from finray.edgar.ledger import Entry
from finray.sample.edgar import Submission, daily_index_path
from finray.settings import EdgarSettings
from tests.edgar.syncer import Syncer
from tools.faults.edgar import BLOCKED, BUSY, Fault, LocalEdgar

Republish = Callable[[list[Submission]], None]
FIRST = dt.date(2024, 5, 6)  # a Monday


def nights(submissions: list[Submission]) -> list[list[Submission]]:
    """What EDGAR has each night: filings of that day, the second night a late one of the first day too, and the third
    night without one that was deleted and with a corrected one."""
    days = [FIRST + dt.timedelta(days=number) for number in range(3)]
    spread = [moved(submission, days[number % 3]) for number, submission in enumerate(submissions)]
    late = spread[0]
    first = [s for s in spread if s.filed_at == days[0] and s is not late]
    second = [*first, late, *(s for s in spread if s.filed_at == days[1])]
    third = [*second, *(s for s in spread if s.filed_at == days[2])]
    wrong, deleted = first[0], first[1]
    form = "8-K" if wrong.form != "8-K" else "10-Q"
    header = f"SUBMISSION TYPE:\t{wrong.form}".encode(), f"SUBMISSION TYPE:\t{form}".encode()
    corrected = replace(wrong, form=form, content=wrong.content.replace(*header))
    return [first, second, [corrected if s is wrong else s for s in third if s is not deleted]]


def moved(submission: Submission, day: dt.date) -> Submission:
    before, after = (f"FILED AS OF DATE:\t\t{date:%Y%m%d}".encode() for date in (submission.filed_at, day))
    content = submission.content.replace(before, after)
    return replace(submission, filed_at=day, content=content)


def rows(sync: Syncer) -> dict[str, Entry]:
    return {entry.listed.accession: entry for entry in sync.ledger.entries()}


def test_three_nights(
    edgar: LocalEdgar,
    republish: Republish,
    submissions: list[Submission],
    edgar_settings: EdgarSettings,
    tmp_path: Path,
) -> None:
    settings = edgar_settings.model_copy(update={"recheck_days": 1.0})
    quiet, loud = (Syncer(str(tmp_path / name), settings) for name in ("quiet", "loud"))
    faults: list[dict[str, list[Fault]]] = []
    published = nights(submissions)
    faults.append({published[0][0].path: [BUSY] * 3, published[0][1].path: [Fault(cut_after=4000)]})
    faults.append(
        {
            published[1][-1].path: [BLOCKED],
            daily_index_path(FIRST + dt.timedelta(days=1)): [Fault(cut_after=300, cut_silently=True)],
            published[1][-2].path: [Fault(cut_after=9000, cut_silently=True)] * 2,
        }
    )
    faults.append(
        {daily_index_path(FIRST + dt.timedelta(days=2)): [BUSY] * 3, published[2][-1].path: [Fault(429, b"")]}
    )
    last = None
    for number, filings in enumerate(published):
        republish(filings)
        day = FIRST + dt.timedelta(days=number)
        now = dt.datetime.combine(day + dt.timedelta(days=1), dt.time(8, 15), dt.UTC)
        options: dict[str, Any] = {"since": FIRST, "until": now.date(), "now": now}
        edgar.faults.clear()
        quiet(**options)
        for path, some in faults[number].items():
            edgar.fail(path, *some)
        disturbed = loud(**options)
        assert disturbed.has_failures or disturbed.pauses
        last = loud(**options)
        assert not last.has_failures
        assert loud.stored() == quiet.stored()
        assert rows(loud) == rows(quiet)
        assert last.complete_until == day
    assert len(loud.stored()) == len(published[2])
    assert sorted(loud.stored().values()) == sorted(submission.content for submission in published[2])
    assert {entry.state for entry in rows(loud).values()} == {"done", "deleted"}

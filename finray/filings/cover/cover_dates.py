"""Finds the period end, or the date of the reported event, among the dates on a cover.

A cover prints several dates, and columns, hard spaces or OCR errors may separate a date from its caption. A date
belongs to the nearest caption before it: the caption of a period counts for the date, that of a market value or share
count against it.
"""

import datetime as dt
import re
from collections.abc import Iterator

from finray.core.forms import QUARTERLY
from finray.core.vocabulary import MONTHS, any_of
from finray.filings.dates import find_dates, to_date
from finray.filings.tables.captions import Caption, CoverText, fold

_NEAR = 200
"""Maximum number of characters from a caption to its date; columns may put other words between them."""
_TRANSITION = 1.5
"""Score of the dates of a transition period."""
_OTHER_PAGE = 3.6
"""Penalty for a period on the next page, which may be that of a statement: it ranks below a lone date at the top."""
_BELOW = 40
"""Maximum number of characters from a date to a caption below it."""
_DIGITS = str.maketrans("oisb", "0158")
_FOLDED_MONTHS = {fold(name): number for name, number in MONTHS.items()}
_MONTH = any_of(_FOLDED_MONTHS)
_DAY, _YEAR = r"[oisb\d]{1,2}", r"(?:i9|2o)[oisb\d]{2}"
# In folded text, letters stand for the digits that they resemble. "31st day of" and "31," both match.
_FOLDED_DATE = re.compile(
    rf"(?P<m1>{_MONTH})(?P<d1>{_DAY})(?:st|nd|rd|th)?(?P<y1>{_YEAR})"
    rf"|(?P<d2>{_DAY})(?:st|nd|rd|th)?(?:dayof|of)?(?P<m2>{_MONTH})(?P<y2>{_YEAR})"
)
_SHORT_DATE = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d\d)\b")

Date = tuple[int, int, dt.date]
"""(start, end, date), offsets in the cover's text."""


def cover_dates(cover: CoverText) -> list[Date]:
    """The dates on a cover in any printed form, in order."""
    found = {start: (start, end, date) for start, end, date in find_dates(cover.text)}
    for start, end, date in (*_folded_dates(cover), *_short_dates(cover)):
        if not any(other[0] < end and start < other[1] for other in found.values()):
            found[start] = (start, end, date)
    return [found[start] for start in sorted(found)]


def period_end(cover: CoverText, form: str, page_end: int) -> dt.date | None:
    """The last day of the period that the report covers. Text from ``page_end`` on is of the next page."""
    captions = [c for c in cover.captions if c.kind in ("period", "transition", "other_date", "event")]
    name = cover.first("name")
    own = ("quarter", "period", "months") if form.startswith(QUARTERLY) else ("year", "weeks")
    best: tuple[float, dt.date] | None = None
    for start, end, date in cover_dates(cover):
        before = max((c for c in captions if c.end <= start <= c.end + _NEAR), key=lambda c: c.start, default=None)
        below = any(c.kind == "period" and 0 <= c.start - end <= _BELOW for c in captions)
        score = 0.0
        if before is not None and before.kind == "period":
            score = 4.0 - (start - before.end) / _NEAR + 0.5 * before.phrase.startswith(own)
            score -= _OTHER_PAGE if start >= page_end else 0.0
        elif below:
            score = 3.0
        elif before is not None and before.kind == "transition":
            if best is None or best[0] <= _TRANSITION:
                best = (_TRANSITION, date)  # of "from ... to ...", the second is the end
        elif before is None and name is not None and start < name.start:
            score = 1.0
        if score and (best is None or score > best[0]):
            best = (score, date)
    return best[1] if best else None


def report_date(cover: CoverText) -> dt.date | None:
    """The date of the earliest event reported: EDGAR's period of report for an 8-K."""
    dates = cover_dates(cover)
    caption = _event_caption(cover)
    if caption is None:
        return dates[0][2] if dates else None
    after = [date for date in dates if 0 <= date[0] - caption.end <= 250]
    if after and after[0][0] - caption.end < 120:
        # "May 5, 2023 (May 3, 2023)": the date in parentheses is that of the earliest event.
        between = cover.text[after[0][1] : after[1][0]] if len(after) > 1 else ""
        return after[1][2] if "(" in between and len(between) < 12 else after[0][2]
    before = [date for date in dates if 0 <= caption.start - date[1] <= 200]
    nearest = (*before[-1:], *after, *dates)
    return nearest[0][2] if nearest else None


def _event_caption(cover: CoverText) -> Caption | None:
    """ "Date of report (Date of earliest event reported)" as one caption."""
    events = [caption for caption in cover.captions if caption.kind == "event"]
    if not events:
        return None
    first = last = events[0]
    for caption in events[1:]:
        if caption.start - last.end < 80:
            last = caption
    return Caption("event", first.phrase, first.start, last.end)


def _folded_dates(cover: CoverText) -> Iterator[Date]:
    for match, start, end in cover.search(_FOLDED_DATE):
        order = "1" if match["m1"] else "2"
        digits = [match[f"{part}{order}"].translate(_DIGITS) for part in "yd"]
        printed = [sum(map(str.isdigit, cover.unfolded(match, f"{part}{order}"))) for part in "yd"]
        year, month, day = int(digits[0]), _FOLDED_MONTHS[match[f"m{order}"]], int(digits[1])
        if printed[0] >= 2 and printed[1] and (date := to_date(year, month, day)):
            yield start, end, date


def _short_dates(cover: CoverText) -> Iterator[Date]:
    for match in _SHORT_DATE.finditer(cover.text):
        month, day, year = (int(part) for part in match.groups())
        if date := to_date(year + (1900 if year > 70 else 2000), month, day):
            yield *match.span(), date

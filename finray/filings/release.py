"""Cover facts of an earnings release (Exhibit 99.1 of a Form 8-K, Item 2.02).

A release has no SEC cover. Its headline names the company and the quarter ("PepsiCo Reports Second-Quarter 2023
Results"), its first sentence the full name and the ticker ("PepsiCo, Inc. (NASDAQ: PEP) today reported").
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence

from finray.filings import fiscal
from finray.filings.dates import find_dates, month_number
from finray.filings.facts import Facts
from finray.filings.fiscal_text import named_year
from finray.filings.names import MAX_NAME, aliases_of, tidy_name
from finray.types import EARNINGS_RELEASE, FiscalPeriod

_HEAD = 5_000
"""Characters in which the headline and the first sentence are looked for."""
_TEXT_PAGES = 12

_WORDS: dict[str, FiscalPeriod] = {
    "first": "Q1",
    "second": "Q2",
    "third": "Q3",
    "fourth": "Q4",
    "1st": "Q1",
    "2nd": "Q2",
    "3rd": "Q3",
    "4th": "Q4",
    "1": "Q1",
    "2": "Q2",
    "3": "Q3",
    "4": "Q4",
}
_QUARTER = re.compile(
    r"\b(?:(?P<word>first|second|third|fourth|1st|2nd|3rd|4th)[\s-]{1,3}(?:fiscal[\s-]{1,3})?quarter|Q(?P<q>[1-4])(?=\b|FY)"
    r"|(?P<r>[1-4])Q(?=\b|\d\d))",
    re.IGNORECASE,
)
_YEAR_NEAR = re.compile(
    r"\b(?:fiscal\s{1,3}(?:year\s{1,3})?|FY\s?)?(?P<year>20\d\d)\b|\bFY\s?(?P<short>\d\d)\b|\A[’']?(?P<tail>\d\d)\b",
    re.IGNORECASE,
)
_FULL_YEAR = re.compile(
    r"\b(?:full[\s-]{1,3}(?:fiscal[\s-]{1,3})?year|fiscal(?:[\s-]{1,3}year)?|year[\s-]end|annual)\b[^.\n]{0,40}?\bresults\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"\b(?:reports?|reported|announces?|announced|delivers?|delivered|posts?|posted|achieves?|releases?|released|records?|publishes)\b",
    re.IGNORECASE,
)
_EARNINGS = re.compile(
    r"\bresults\b|\bearnings\b|\bnet\s{1,3}(?:sales|income|revenues?|loss)\b|\brevenues?\b|\bEPS\b|\bper\s{1,3}(?:diluted\s{1,3})?share\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"\(\s{0,2}(?:the\s{1,2})?(?P<exchange>NYSE(?:\s{1,2}(?:American|Arca|MKT))?|NASDAQ(?:[\s-]{1,2}?(?:GS|GM|CM|Global\s{1,2}(?:Select\s{1,2})?Market))?|New\s{1,2}York"
    r"\s{1,2}Stock\s{1,2}Exchange|OTC\w{0,4}|AMEX|CBOE|TSX|ASX|LSE)\b[^():]{0,40}[:;]\s{0,3}[“\"]?(?P<symbol>[A-Z][A-Z.]{0,5})\b",
    re.IGNORECASE,
)
_BEFORE_NAME = re.compile(
    r"(?:\s[-–—]{1,2}|[-–—]{2}|[–—]|\)\s?[-–—]{1,2})\s{0,3}|\btoday\b|\n|[.!?]\s{1,3}(?=[A-Z][a-z])(?<!Inc\. )(?<!Corp\. )(?<!Co\. )(?<!St\. )|\b(?:from|at|by|of|for)\s{1,3}",
)
_DATELINE = re.compile(
    r"^(?:.{0,80}?(?:\d{4}|wire|newswire)\)?\s{0,2}(?:/[^/\n]{0,40}/)?\s{0,2}[-–—]{1,2}\s{0,2})",
    re.IGNORECASE,
)
_SUFFIXED = re.compile(
    r"\b(?:Inc|Incorporated|Corporation|Corp|Company|Co|plc|PLC|Ltd|Limited|LLC|L\.P|N\.V|S\.A|Group|Holdings|Companies)\b\.?$"
)
_ENDED = re.compile(r"\bend(?:ed|ing)\b", re.IGNORECASE)
_MONTH_QUARTER = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)\s{1,3}(20\d\d)\s{1,3}quarter\b",
    re.IGNORECASE,
)
_NOT_IN_A_NAME = re.compile(
    r"\b(?:press\s+release|news\s+release|for\s+immediate|contact|exhibit|results|media|investor)\b"
    r"|^(?:the\s+)?(?:company|corporation|bank|board|we|q[1-4]|fiscal|full|first|second|third|fourth|net|\d)\b",
    re.IGNORECASE,
)


def read_release(texts: Sequence[str]) -> Facts | None:
    """Facts of an earnings release, None where the text does not read as one."""
    text = "\n".join(texts[:_TEXT_PAGES]).replace("\xa0", " ")
    head = text[:_HEAD]
    if len(_EARNINGS.findall(text[:12_000])) < 4 or not _ANNOUNCED.search(head):
        return None
    period, year = _period(head)
    if period is None:
        return None
    company, symbol = _company(head, text)
    if company is None:
        return None
    period_end = _period_end(text, head)
    year_end: str | None = None
    if period_end is not None:
        months = 3 * (fiscal.QUARTERS.index(period) + 1) if period in fiscal.QUARTERS else 12
        last_day = period_end if months == 12 else fiscal.year_end_after(period_end, months)
        year_end = f"{last_day:%m-%d}"
        if year is None or year - last_day.year not in (-1, 0, 1):
            year = named_year(last_day, text, period)
    return Facts(
        company=company,
        form=EARNINGS_RELEASE,
        ticker=symbol,
        amendment=False,
        period_end=period_end,
        fiscal_year=year,
        fiscal_period=period,
        fiscal_year_end=year_end,
        aliases=aliases_of(company, text[:60_000]),
    )


def _period(head: str) -> tuple[FiscalPeriod | None, int | None]:
    """The quarter that the headline reports and its year; a release on the whole year is the fourth quarter's."""
    for match in _QUARTER.finditer(head):
        word = match["word"] or match["q"] or match["r"]
        year = _year_beside(head, match)
        if year is not None:
            return _WORDS[word.lower()], year
    first = _QUARTER.search(head)
    if first:
        return _WORDS[(first["word"] or first["q"] or first["r"]).lower()], None
    whole = _FULL_YEAR.search(head)
    if whole:
        found = _YEAR_NEAR.search(whole[0])
        return "Q4", _year_of(found) if found else None
    return None, None


def _year_beside(head: str, quarter: re.Match[str]) -> int | None:
    """The year named right after a quarter, or right before it ("Fiscal 2023 Second Quarter")."""
    after = _YEAR_NEAR.search(head[quarter.end() : quarter.end() + 45])
    if after and not re.search(
        r"[.;]\s|\bcompared\b|\bvs\b|\bended\b", head[quarter.end() : quarter.end() + after.start()]
    ):
        return _year_of(after)
    before = re.search(
        r"(?:fiscal\s{1,3}(?:year\s{1,3})?)?\b(20\d\d)\s{1,3}\Z",
        head[max(0, quarter.start() - 30) : quarter.start()],
        re.IGNORECASE,
    )
    return int(before[1]) if before else None


def _year_of(match: re.Match[str]) -> int:
    return int(match["year"]) if match["year"] else 2000 + int(match["short"] or match["tail"])


def _company(head: str, text: str) -> tuple[str | None, str | None]:
    """(name, ticker): the name before "(NYSE: …)", else the headline's subject."""
    symbol = None
    for listed in _LISTED.finditer(text[:20_000]):
        symbol = symbol or listed["symbol"].upper()
        name = _name_before(text[max(0, listed.start() - 140) : listed.start()])
        if name:
            return name, symbol
    subject = _subject(head)
    return (_full_name(subject, text) if subject else None), symbol


def _name_before(before: str) -> str | None:
    """The name that ends ``before``: what follows the dateline's dash, the last sentence or "today"."""
    flat = re.sub(r"\n", " ", before).rstrip(' (“"')
    cuts = [match.end() for match in _BEFORE_NAME.finditer(flat)]
    for cut in [*reversed(cuts), 0] if cuts else [0]:
        words = flat[cut:].strip(" ,")
        match = re.search(
            r"((?:(?:[A-Z0-9][\w.’'&+-]*|&|and|of|the|de),?\s+){0,7}[A-Z0-9][\w.’'&+-]*,?(?:\s+(?:Inc|Corp|Co|Ltd|plc|PLC|N\.V|S\.A)\.?)?)$",
            words,
        )
        if match:
            name = tidy_name(match[1])
            if name and len(name) <= MAX_NAME and name[0].isalnum() and not _NOT_IN_A_NAME.search(name):
                return re.sub(r"^(?:and|of|the)\s+(?=[A-Z])", "", name)
    return None


def _subject(head: str) -> str | None:
    """The headline's subject: the words before "Reports", on its own line or the line above."""
    lines = [" ".join(line.split()) for line in head.splitlines()[:40]]
    lines = [line for line in lines if line]
    for position, line in enumerate(lines):
        verb = _ANNOUNCED.search(line)
        if verb is None:
            continue
        name = tidy_name(line[: verb.start()])
        if not name and position:
            name = tidy_name(lines[position - 1])
        name = re.sub(r"\s+today$", "", name)
        if (
            name
            and name[0].isupper() | name[0].isdigit()
            and len(name.split()) <= 7
            and not _NOT_IN_A_NAME.search(name)
        ):
            return name
    return None


def _full_name(subject: str, text: str) -> str:
    """The subject with the corporate suffix that the text most often gives it ("Amcor" is "Amcor plc")."""
    found = Counter(
        tidy_name(match[0])
        for match in re.finditer(
            re.escape(subject)
            + r",?(?:\s(?!and\b)[A-Z&][\w&.]{0,15}){0,3}?\s{1,2}(?:Inc|Incorporated|Corporation|Corp|Company|Co|plc|PLC|Ltd|Limited"
            r"|LLC|N\.V|S\.A|Group|Holdings|Companies)\b\.?",
            text,
        )
    )
    return found.most_common(1)[0][0] if found else subject


def _period_end(text: str, head: str) -> dt.date | None:
    """The last day of the quarter: the first date after "ended", no later than the release and at most five months
    older; else the date most often printed in that span."""
    released = next((date for _, _, date in find_dates(head)), None)
    candidates: list[dt.date] = []
    for mark in _ENDED.finditer(text):
        found = next(find_dates(text, mark.end(), min(len(text), mark.end() + 60)), None)
        if found:
            candidates.append(found[2])
        if len(candidates) >= 40:
            break
    month = _MONTH_QUARTER.search(text)
    if month:
        first = dt.date(int(month[2]), month_number(month[1]), 28) + dt.timedelta(days=4)
        candidates.insert(0, first - dt.timedelta(days=first.day))
    fitting = [date for date in candidates if released is None or 0 <= (released - date).days <= 150]
    if released is None and fitting:
        return max(fitting[:12])
    if fitting:
        return fitting[0]
    dates = Counter(
        date
        for _, _, date in find_dates(text[:60_000])
        if released is not None and 3 < (released - date).days <= 150
    )
    return dates.most_common(1)[0][0] if dates else None

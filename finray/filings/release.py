"""Cover facts of an earnings release (Exhibit 99.1 of a Form 8-K, Item 2.02).

A release has no SEC cover. Its headline names the company and the quarter ("PepsiCo Reports Second-Quarter 2023
Results"), its first sentence the full name and the ticker ("PepsiCo, Inc. (NASDAQ: PEP) today reported").
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from finray.core.types import EARNINGS_RELEASE, FiscalPeriod
from finray.core.vocabulary import MONTH, MONTHS, ORDINAL, ORDINALS
from finray.filings import fiscal
from finray.filings.dates import find_dates
from finray.filings.facts import Facts
from finray.filings.fiscal_text import find_quarter, named_year
from finray.filings.names import MAX_NAME, aliases_of, is_short_name, tidy_name

_HEAD = 5_000
"""Characters searched for the headline and the first sentence."""
_TEXT_PAGES = 30
_TEXT_CHARACTERS = 200_000
_NAME_REACH = 140
"""Characters before "(NYSE: …)" searched for the company's name."""

_QUARTER = re.compile(
    rf"\b(?:(?P<word>{ORDINAL})[\s-]{{1,3}}(?:fiscal[\s-]{{1,3}})?quarter"
    r"|Q(?P<q>[1-4])(?=\b|FY)"
    r"|(?P<r>[1-4])Q(?=\b|\d\d))",
    re.IGNORECASE,
)
_YEAR_NEAR = re.compile(
    r"\b(?:fiscal\s{1,3}(?:year\s{1,3})?|FY\s?)?(?P<year>20\d\d)\b|\bFY\s?(?P<short>\d\d)\b"
    r"|\A[’']?(?P<tail>\d\d)\b",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"[.;]\s|\bcompared\b|\bvs\b|\bended\b|\b\d{1,2},\s{0,2}$", re.IGNORECASE)
_FULL_YEAR = re.compile(
    r"\b(?:full[\s-]{1,3}(?:fiscal[\s-]{1,3})?year|fiscal(?:[\s-]{1,3}year)?|year[\s-]end"
    r"|annual)\b[^.\n]{0,40}?\bresults\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"\b(?:reports?|reported|announces?|announced|delivers?|delivered|posts?|posted|achieves?|releases?"
    r"|released|records?|publishes)\b",
    re.IGNORECASE,
)
_EARNINGS = re.compile(
    r"\bresults\b|\bearnings\b|\bnet\s{1,3}(?:sales|income|revenues?|loss)\b|\brevenues?\b|\bEPS\b"
    r"|\bper\s{1,3}(?:diluted\s{1,3})?share\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"[\[(]\s{0,2}(?:the\s{1,2})?(?P<exchange>NYSE(?:\s{1,2}(?:American|Arca|MKT))?|NASDAQ(?:[\s-]{1,2}?(?:GS"
    r"|GM|CM|Global\s{1,2}(?:Select\s{1,2})?Market))?|New\s{1,2}York"
    r"\s{1,2}Stock\s{1,2}Exchange|OTC\w{0,4}|AMEX|CBOE|TSX|ASX"
    r"|LSE)\b[^():]{0,40}[:;]\s{0,3}[“\"]?(?P<symbol>[A-Z][A-Z.]{0,5})\b",
    re.IGNORECASE,
)
_BEFORE_NAME = re.compile(
    r"(?:\s[-–—]{1,2}|[-–—]{2}|[–—]|\)\s?[-–—]{1,2})\s{0,3}|\btoday\b|\n"
    r"|[.!?]\s{1,3}(?=[A-Z][a-z])(?<!Inc\. )(?<!Corp\. )(?<!Co\. )(?<!St\. )|\b(?:from|at|by|of|for)\s{1,3}",
)
_NAME_AT_END = re.compile(
    r"((?:(?:[A-Z0-9][\w.’'&+-]*|&|and|of|the|de),?\s+){0,7}[A-Z0-9][\w.’'&+-]*,?(?:\s+(?:Inc|Corp|Co"
    r"|Ltd|plc|PLC|N\.V|S\.A)\.?)?)$"
)
_LEGAL_FORM = r"(?:Inc|Incorporated|Corporation|Corp|Company|plc|PLC|Ltd|Limited|LLC|L\.P|N\.V|S\.A)\b\.?"
_WIDER_FORM = r"(?:Co|Group|Holdings|Companies)\b\.?"
_STATEMENT_HEADING = re.compile(
    rf"^[^\S\n]*([A-Z0-9][\w&.,’' -]{{0,60}}\b{_LEGAL_FORM})(?:\s{{1,3}}and\s{{1,3}}subsidiaries)?\s{{1,6}}"
    r"(?:unaudited\s{1,3}|condensed\s{1,3}|consolidated\s{1,3}){1,3}(?:statements?\s{1,3}of"
    r"|balance\s{1,3}sheets?)",
    re.IGNORECASE | re.MULTILINE,
)
_LETTER = re.compile(r"\b(?:fellow|dear)\s{1,3}(?:share|stock)holders\b", re.IGNORECASE)
# "Form 10-Q for the quarterly period ended" cites an earlier report.
_ENDED = re.compile(r"(?P<cited>quarterly\s{1,3}period\s{1,3})?\bend(?:ed|ing)\b", re.IGNORECASE)
_MONTH_QUARTER = re.compile(rf"\b({MONTH})\s{{1,3}}(20\d\d)\s{{1,3}}quarter\b", re.IGNORECASE)
_NOT_IN_A_NAME = re.compile(
    r"\b(?:press\s+release|news\s+release|for\s+immediate|contact|exhibit|results|media|investor)\b"
    r"|^(?:the\s+)?(?:company|corporation|bank|board|we|q[1-4]|fiscal|full|first|second|third|fourth|net"
    r"|\d)\b",
    re.IGNORECASE,
)


def read_release(texts: Sequence[str]) -> Facts | None:
    """Facts of an earnings release; None if the text is not one."""
    text = "\n".join(texts[:_TEXT_PAGES])[:_TEXT_CHARACTERS].replace("\xa0", " ")
    head = text[:_HEAD]
    if len(_EARNINGS.findall(text[:12_000])) < 4 or not (_ANNOUNCED.search(head) or _LETTER.search(head)):
        return None
    period, year = _period(head)
    if period is None:
        return None
    company, symbol = _company(head, text)
    if company is None:
        return None
    period_end = _period_end(text, head)
    year_end: dt.date | None = None
    if period_end is not None:
        year_end = _year_end(period_end, period, text)
        if year is None or year - year_end.year not in (-1, 0, 1):
            year = named_year(year_end, text, period)
    aliases: tuple[str, ...] = ()
    heading = statement_heading(text)
    if heading is not None and is_short_name(company, heading):
        # "AMD (NASDAQ: AMD) today announced": the statements print the full name.
        company, aliases = heading, (company,)
    return Facts(
        company=company,
        form=EARNINGS_RELEASE,
        ticker=symbol,
        amendment=False,
        period_end=period_end,
        fiscal_year=year,
        fiscal_period=period,
        fiscal_year_end=f"{year_end:%m-%d}" if year_end else None,
        aliases=aliases_of(company, text[:60_000], aliases),
    )


def _year_end(period_end: dt.date, period: FiscalPeriod, text: str) -> dt.date:
    """The last day of the fiscal year, from the prior year end on the balance sheet if that fits the quarter."""
    if period == "Q4":
        return period_end
    quarter = find_quarter(period_end, text)
    if quarter is not None and quarter.period == period:
        return quarter.year_end
    return fiscal.year_end_after(period_end, 3 * (fiscal.QUARTERS.index(period) + 1))


def _quarter(word: str) -> FiscalPeriod:
    return fiscal.QUARTERS[(ORDINALS.get(word.lower()) or int(word)) - 1]


def _period(head: str) -> tuple[FiscalPeriod | None, int | None]:
    """The quarter in the headline and its year; a release on the whole year counts as the fourth quarter's."""
    for match in _QUARTER.finditer(head):
        word = match["word"] or match["q"] or match["r"]
        year = _year_beside(head, match)
        if year is not None:
            return _quarter(word), year
    first = _QUARTER.search(head)
    if first:
        return _quarter(first["word"] or first["q"] or first["r"]), None
    whole = _FULL_YEAR.search(head)
    if whole:
        found = _YEAR_NEAR.search(whole[0])
        return "Q4", _year_of(found) if found else None
    return None, None


def _year_beside(head: str, quarter: re.Match[str]) -> int | None:
    """The year right after a quarter, or right before it ("Fiscal 2023 Second Quarter")."""
    following = head[quarter.end() : quarter.end() + 45]
    after = _YEAR_NEAR.search(following)
    if after and not _SEPARATOR.search(following[: after.start()]):
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
        name = _name_before(text[max(0, listed.start() - _NAME_REACH) : listed.start()])
        if name:
            return name, symbol
    subject = _subject(head)
    return (_full_name(subject, text) if subject else statement_heading(text)), symbol


def _name_before(before: str) -> str | None:
    """The name at the end of ``before``, after the dateline's dash, the last sentence or "today"."""
    flat = before.replace("\n", " ").rstrip(' (“"')
    cuts = [match.end() for match in _BEFORE_NAME.finditer(flat)]
    for cut in [*reversed(cuts), 0] if cuts else [0]:
        words = flat[cut:].strip(" ,")
        match = _NAME_AT_END.search(words)
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
        name = name.removesuffix(" today")
        if (
            name
            and name[0].isupper() | name[0].isdigit()
            and len(name.split()) <= 7
            and not _NOT_IN_A_NAME.search(name)
        ):
            return name
    return None


def _full_name(subject: str, text: str) -> str:
    """The subject with its most frequent corporate suffix in the text ("Amcor" is "Amcor plc")."""
    for suffix in (_LEGAL_FORM, _WIDER_FORM):
        full = re.compile(rf"\b{re.escape(subject)},?(?:\s(?!and\b)[A-Z&][\w&.]{{0,15}}){{0,3}}?\s{{1,2}}{suffix}")
        found = Counter(tidy_name(match[0]) for match in full.finditer(text))
        if found:
            return found.most_common(1)[0][0]
    return subject


def statement_heading(text: str) -> str | None:
    """The name above the title of a financial statement."""
    names = Counter(tidy_name(match[1]) for match in _STATEMENT_HEADING.finditer(text))
    return names.most_common(1)[0][0] if names else None


def _period_end(text: str, head: str) -> dt.date | None:
    """The last day of the quarter: the latest date after "ended" that is printed more than once and at most four months
    older than the release; if no date follows "ended", the most frequent one."""
    month = _MONTH_QUARTER.search(text)
    if month:
        following = dt.date(int(month[2]), MONTHS[month[1].lower()], 28) + dt.timedelta(days=4)
        return following - dt.timedelta(days=following.day)
    released = next((date for _, _, date in find_dates(head)), None)
    printed = Counter(date for _, _, date in find_dates(text))
    ended = set()
    for mark in islice(_ENDED.finditer(text), 60):
        found = next(find_dates(text, mark.end(), min(len(text), mark.end() + 60)), None)
        if found and not mark["cited"]:
            ended.add(found[2])
    if released is not None and released not in ended:
        printed = Counter({date: n for date, n in printed.items() if 3 < (released - date).days <= 125})
    elif ended:
        latest = max(ended)
        printed = Counter({date: n for date, n in printed.items() if (latest - date).days >= 0})
    repeated = [date for date in ended if printed[date] > 1]
    if repeated or ended & set(printed):
        return max(repeated or ended & set(printed))
    return printed.most_common(1)[0][0] if printed and released else None

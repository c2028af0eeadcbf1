"""Cover facts of an earnings release (Exhibit 99.1 of a Form 8-K, Item 2.02).

A release has no SEC cover. Its headline names the company and the quarter ("PepsiCo Reports Second-Quarter 2023
Results"), its first sentence the full name and the ticker ("PepsiCo, Inc. (NASDAQ: PEP) today reported").
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from finray.core.filing import FiscalPeriod
from finray.core.forms import EARNINGS_RELEASE
from finray.core.vocabulary import MONTH, MONTHS, ORDINAL, ORDINALS
from finray.filings.cover import fiscal
from finray.filings.cover.facts import Facts
from finray.filings.cover.fiscal_text import find_quarter, named_year
from finray.filings.cover.names import MAX_NAME, aliases_of, is_short_name, tidy_name
from finray.filings.dates import find_dates, first_date, last_of_month
from finray.filings.phrases import phrase

_HEAD = 5_000
"""Characters searched for the headline and the first sentence."""
_TEXT_PAGES = 30
_TEXT_CHARACTERS = 200_000
_NAME_REACH = 140
"""Characters before "(NYSE: …)" searched for the company's name."""

_QUARTER = phrase(
    rf"\b(?:(?P<word>{ORDINAL})[\s-]{{1,3}}(?:fiscal[\s-]{{1,3}})?quarter|Q(?P<q>[1-4])(?=\b|FY)|(?P<r>[1-4])Q(?=\b|\d\d))"
)
_YEAR_NEAR = phrase(
    r"\b(?:fiscal (?:year )?|FY\s?)?(?P<year>20\d\d)\b|\bFY\s?(?P<short>\d\d)\b|\A[’']?(?P<tail>\d\d)\b"
)
_YEAR_BEFORE = phrase(r"\b(20\d\d) \Z")
_SEPARATOR = phrase(r"[.;]\s|\bcompared\b|\bvs\b|\bended\b|\b\d{1,2},\s{0,2}$")
_FULL_YEAR = phrase(
    r"\b(?:full[\s-]{1,3}(?:fiscal[\s-]{1,3})?year|fiscal(?:[\s-]{1,3}year)?|year[\s-]end|annual)\b[^.\n]{0,40}?\bresults\b"
)
_ANNOUNCED = phrase(r"\b(?:(?:report|deliver|post)(?:s|ed)?|(?:announce|release)[sd]?|achieves?|records?|publishes)\b")
_EARNINGS = phrase(
    r"\bresults\b|\bearnings\b|\bnet (?:sales|income|revenues?|loss)\b|\brevenues?\b|\bEPS\b|\bper (?:diluted )?share\b"
)
_LISTED = phrase(
    r"[\[(]\s{0,2}(?:the )?(?P<exchange>NYSE(?: (?:American|Arca|MKT))?|NASDAQ(?:[\s-]{1,2}?(?:GS|GM|CM"
    r"|Global (?:Select )?Market))?|New York Stock Exchange|OTC\w{0,4}|AMEX|CBOE|TSX|ASX|LSE)\b"
    r"[^():]{0,40}[:;]\s{0,3}[“\"]?(?P<symbol>[A-Z][A-Z.]{0,5})\b"
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
_STATEMENT_HEADING = phrase(
    rf"^[^\S\n]*([A-Z0-9][\w&.,’'\x20-]{{0,60}}\b{_LEGAL_FORM})(?: and subsidiaries)?\s{{1,6}}"
    r"(?:unaudited |condensed |consolidated ){1,3}(?:statements? of|balance sheets?)",
    re.MULTILINE,
)
_LETTER = phrase(r"\b(?:fellow|dear) (?:share|stock)holders\b")
# "Form 10-Q for the quarterly period ended" cites an earlier report.
_ENDED = phrase(r"(?P<cited>quarterly period )?\bend(?:ed|ing)\b")
_MONTH_QUARTER = phrase(rf"\b({MONTH}) (20\d\d) quarter\b")
_NOT_IN_A_NAME = phrase(
    r"\b(?:press release|news release|for immediate|contact|exhibit|results|media|investor)\b"
    r"|^(?:the )?(?:company|corporation|bank|board|we|q[1-4]|fiscal|full|first|second|third|fourth|net|\d)\b"
)


def read_release(texts: Sequence[str]) -> Facts | None:
    """The facts of an earnings release; None if the text is not one."""
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
    """The last day of the fiscal year, from the prior year end on the balance sheet if that is consistent with the
    quarter."""
    if period == "Q4":
        return period_end
    quarter = find_quarter(period_end, text)
    if quarter is not None and quarter.period == period:
        return quarter.year_end
    return fiscal.year_end_after(period_end, 3 * (fiscal.QUARTERS.index(period) + 1))


def _quarter(match: re.Match[str]) -> FiscalPeriod:
    word = match["word"] or match["q"] or match["r"]
    return fiscal.QUARTERS[(ORDINALS.get(word.lower()) or int(word)) - 1]


def _period(head: str) -> tuple[FiscalPeriod | None, int | None]:
    """The quarter in the headline and its year; a release about the whole year counts as that of the fourth quarter."""
    quarters = list(_QUARTER.finditer(head))
    for match in quarters:
        if year := _year_beside(head, match):
            return _quarter(match), year
    if quarters:
        return _quarter(quarters[0]), None
    if whole := _FULL_YEAR.search(head):
        found = _YEAR_NEAR.search(whole[0])
        return "Q4", _year_of(found) if found else None
    return None, None


def _year_beside(head: str, quarter: re.Match[str]) -> int | None:
    """The year right after a quarter, or right before it ("Fiscal 2023 Second Quarter")."""
    following = head[quarter.end() : quarter.end() + 45]
    after = _YEAR_NEAR.search(following)
    if after and not _SEPARATOR.search(following[: after.start()]):
        return _year_of(after)
    before = _YEAR_BEFORE.search(head[max(0, quarter.start() - 30) : quarter.start()])
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
    for cut in (*reversed(cuts), 0):
        if match := _NAME_AT_END.search(flat[cut:].strip(" ,")):
            name = tidy_name(match[1])
            if name and len(name) <= MAX_NAME and name[0].isalnum() and not _NOT_IN_A_NAME.search(name):
                return re.sub(r"^(?:and|of|the)\s+(?=[A-Z])", "", name)
    return None


def _subject(head: str) -> str | None:
    """The headline's subject: the words before "Reports", on its own line or the line above."""
    lines = [" ".join(line.split()) for line in head.splitlines()[:40] if line.strip()]
    for position, line in enumerate(lines):
        verb = _ANNOUNCED.search(line)
        if verb is None:
            continue
        name = tidy_name(line[: verb.start()])
        if not name and position:
            name = tidy_name(lines[position - 1])
        name = name.removesuffix(" today")
        capitalized = name[:1].isupper() or name[:1].isdigit()
        if capitalized and len(name.split()) <= 7 and not _NOT_IN_A_NAME.search(name):
            return name
    return None


def _full_name(subject: str, text: str) -> str:
    """``subject`` as the text most often prints it with a corporate suffix: "Amcor plc" for "Amcor"."""
    for suffix in (_LEGAL_FORM, _WIDER_FORM):
        full = re.compile(rf"\b{re.escape(subject)},?(?:\s(?!and\b)[A-Z&][\w&.]{{0,15}}){{0,3}}?\s{{1,2}}{suffix}")
        found = Counter(tidy_name(match[0]) for match in full.finditer(text))
        if found:
            return found.most_common(1)[0][0]
    return subject


def statement_heading(text: str) -> str | None:
    """The name that is printed most often above the title of a financial statement."""
    names = Counter(tidy_name(match[1]) for match in _STATEMENT_HEADING.finditer(text))
    return names.most_common(1)[0][0] if names else None


def _period_end(text: str, head: str) -> dt.date | None:
    """The last day of the quarter: the latest date after "ended", printed more than once if any is, at most four months
    before the release. If no date follows "ended", the most frequent one."""
    if month := _MONTH_QUARTER.search(text):
        return last_of_month(int(month[2]), MONTHS[month[1].lower()])
    released = first_date(head)
    printed = Counter(date for _, _, date in find_dates(text))
    marks = islice(_ENDED.finditer(text), 60)
    dated = {first_date(text, mark.end(), mark.end() + 60) for mark in marks if not mark["cited"]}
    ended = {date for date in dated if date}
    if released is not None and released not in ended:
        printed = Counter({date: n for date, n in printed.items() if 3 < (released - date).days <= 125})
    elif ended:
        printed = Counter({date: n for date, n in printed.items() if date <= max(ended)})
    if candidates := {date for date in ended if printed[date] > 1} or ended & printed.keys():
        return max(candidates)
    return printed.most_common(1)[0][0] if printed and released else None

"""Cover facts from the text of a filing's first pages.

The cover pages of Forms 10-K, 10-Q and 8-K are laid down by the SEC (Form 10-K, General Instructions), so their
captions are the anchors: "(Exact name of registrant as specified in its charter)", "For the fiscal year ended",
"Date of earliest event reported". Earnings releases have no such cover: see ``release``.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import replace

from finray.filings.dates import find_dates, first_date
from finray.filings.fiscal_text import find_quarter, named_year
from finray.filings.facts import Facts, padded_cik
from finray.filings.names import MAX_NAME, aliases_of, only_suffix, tidy_name
from finray.filings.release import read_release
from finray.types import ANNUAL_REPORT_TO_HOLDERS

_COVER_PAGES = 24
"""How far in a cover page is looked for: annual reports to holders wrap one behind letters and pictures."""
_STORY_PAGES = 40
"""How far in the names of fiscal years and the company's short names are looked for."""

_FORM = re.compile(
    r"\bform\s{0,4}(?P<form>10\s?-?\s?k(?:sb|405|t)?|10\s?-?\s?q(?:sb|t)?|8\s?-?\s?k(?:12[bg]\d?)?|20-?f|40-?f|6-?k|11-?k)"
    r"(?P<amended>\s{0,3}/\s{0,2}a)?\b(?!\w)",
    re.IGNORECASE,
)
_SEC = re.compile(r"securities\s{1,4}(?:and|&)\s{1,4}exchange\s{1,4}commission", re.IGNORECASE)
_CAPTION = re.compile(
    r"\(?\s{0,3}exact\s{1,3}names?\s{1,3}of\s{1,3}(?:each\s{1,3}|the\s{1,3}|small\s{1,3}business\s{1,3}|small\s{1,3})?"
    r"(?:registrants?|company|issuers?|corporation|companies)|\(\s{0,3}(?:full\s{1,3})?names?\s{1,3}of\s{1,3}(?:the\s{1,3})?"
    r"(?:small\s{1,3}business\s{1,3}issuer|registrant|issuer)",
    re.IGNORECASE,
)
_SECTION_13 = re.compile(r"pursuant\s{1,3}to\s{1,3}sections?\s{1,3}1[35]", re.IGNORECASE)
_FILE_CAPTION = re.compile(
    r"commission\s{1,3}file\s{1,3}(?:numbers?|no)|\bi\.?r\.?s\.?\s{1,3}employer", re.IGNORECASE
)
_CAPTION_END = re.compile(r"(?:charters?|articles)[^\S\n]{0,3}\)?[.:]?", re.IGNORECASE)
_PERIOD = re.compile(
    r"(?:fiscal\s{1,3}year|transition\s{1,3}period|quarterly\s{1,3}period|quarterly\s{1,3}report\s{1,3}for\s{1,3}the\s{1,3}period"
    r"|fiscal\s{1,3}quarter|quarter|period|year|weeks|months)\s{1,3}end(?:ed|ing)\s{0,3}:?",
    re.IGNORECASE,
)
_TRANSITION = re.compile(r"transition\s{1,3}period\s{1,3}from", re.IGNORECASE)
_REPORT_DATE = re.compile(r"date\s{1,3}of\s{1,3}(?:earliest\s{1,3}event\s{1,3})?report(?:ed)?", re.IGNORECASE)
_EVENT = re.compile(r"earliest\s{1,3}event", re.IGNORECASE)
_AMENDMENT = re.compile(r"\bamendment\s{1,3}no\.?\s{0,3}\d{1,2}\b", re.IGNORECASE)
_SIGNED = re.compile(r"\(\s{0,2}registrant\s{0,2}\)", re.IGNORECASE)
_JURISDICTION = re.compile(
    r"\W*(?:state of |commonwealth of |province of )?(?:alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|georgia|hawaii"
    r"|idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi"
    r"|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|new york|north carolina|north dakota|ohio|oklahoma"
    r"|oregon|pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont|virginia|washington"
    r"|west virginia|wisconsin|wyoming|district of columbia|puerto rico|bermuda|cayman islands|ireland|jersey|england(?: and wales)?"
    r"|united kingdom|netherlands|the netherlands|luxembourg|switzerland|canada|israel|british virgin islands|marshall islands"
    r"|ontario|british columbia|singapore|liberia|panama|curaçao|[a-z]{2})\W*",
    re.IGNORECASE,
)
_FORMER = re.compile(r"\(\s{0,3}(?:former|previous)\s{1,3}names?\b", re.IGNORECASE)
_CIK = re.compile(
    r"\b(?:central\s{1,3}index\s{1,3}key|CIK)\s{0,3}(?:no\.?|number|#|code)?\s{0,3}[:.]?\s{0,3}(\d{6,10})\b",
    re.IGNORECASE,
)
_SYMBOL_HEAD = re.compile(r"(?:trading|ticker)\s{1,3}symbols?\s{0,2}(?:\(s\))?", re.IGNORECASE)
_SYMBOL = re.compile(r"[A-Z]{1,5}(?:[. ][A-Z])?")
_NOT_A_SYMBOL = frozenset(
    ("NYSE", "N/A", "NONE", "LLC", "INC", "YES", "NO", "OR", "THE", "AND", "OF", "NASDA", "CBOE", "OTC")
)
_UNDER_SYMBOL = re.compile(
    r"\b(?:under|by)\s{1,3}(?:the\s{1,3})?(?:ticker\s{1,3}|trading\s{1,3}|stock\s{1,3})?symbols?\s{0,3}[“\"‘']?\s?([A-Z]{1,5})\b"
)
_NO_NAME = re.compile(
    r"commission\s+file|file\s+n(?:umber|o)|\bmark\s+one\b|transition\s+(?:report|period)|\bform\s+(?:10|8|20|40|6)\b|i\.?r\.?s\.?\s+employer"
    r"|\bemployer\b|identification|state\s+(?:or|of)|jurisdiction|incorporat(?:ion|ed in)|telephone|washington,?\s+d\.?c|20549"
    r"|securities\s+(?:and|&)|\bpursuant\b|annual\s+report|quarterly\s+report|current\s+report|\bfor\s+the\s+|\bended\b|\breported\b"
    r"|date\s+of|amendment\s+no|principal\s+executive|zip\s+code|^\W*(?:or|of|to|and|for|from)\W*$|exchange\s+act"
    r"|exact\s+name|specified\s+in|^\W*number\W|table\s+of\s+contents|^united\s+states$|earliest\s+event|conformed|edgar|^\W*x\W*$",
    re.IGNORECASE,
)
_FILE_NUMBER = re.compile(
    r"(?:number|no\.?|file)?\s*:?\s*\b\d{1,3}\s?[-–‑]\s?\d{3,6}(?:[-–]\d{1,3})?\b[.:]?", re.IGNORECASE
)
_DATE_LINE = re.compile(r"^\W*(?:[A-Z][a-z]{2,8}\.?\s+\d{1,2},?\s+)?(?:19|20)\d\d\W*(?:or)?\W*$")
_LETTERS = re.compile(r"[A-Za-z]{2}|\d[A-Z]\b|[A-Z]\s?&\s?[A-Z]")
_CORPORATE = re.compile(
    r"\b(?:inc|incorporated|corp|corporation|company|co|ltd|limited|plc|llc|l\.l\.c|l\.?p|n\.?v|s\.?a|trust|group|holdings|bancorp"
    r"|partnership)\b\.?\W*$",
    re.IGNORECASE,
)
_ANNUAL_REPORT = re.compile(
    r"\bannual\s{1,3}(?:report|review)\b|\breport\s{1,3}to\s{1,3}(?:share|stock)holders\b", re.IGNORECASE
)
_HOLDERS = re.compile(
    r"\b(?:dear|to\s{1,3}our|fellow)\s{1,3}(?:fellow\s{1,3})?(?:share|stock)(?:holders|owners)\b"
    r"|\bletter\s{1,3}to\s{1,3}(?:our\s{1,3})?(?:share|stock)(?:holders|owners)",
    re.IGNORECASE,
)


def read_cover(texts: Sequence[str]) -> Facts:
    """Facts of the filing whose pages are ``texts``; empty where they read as no filing at all."""
    found = _find_cover(texts)
    if found is None:
        return read_release(texts) or _holders_report(texts) or Facts()
    index, form = found
    cover = plain("\n".join(texts[index : index + 2]))
    facts = _sec_cover(cover, form, texts)
    if index and facts.form in ("10-K", "10-K/A") and _is_holders_report(texts[:index]):
        return replace(facts, form=ANNUAL_REPORT_TO_HOLDERS)
    return facts


def plain(text: str) -> str:
    """Text for matching: spaces of all kinds are one kind, lines are stripped, blank lines and rules are dropped."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip(" _-–—*.=|"))


def _find_cover(texts: Sequence[str]) -> tuple[int, re.Match[str]] | None:
    """(page, form mark) of the first page that bears a form's name and the captions of an SEC cover page."""
    for index, text in enumerate(texts[:_COVER_PAGES]):
        form = _FORM.search(text[:6000])
        if form is None:
            continue
        # A short page holds the cover's top only.
        captions = (
            text[:8000] if len(text) > 1500 else f"{text}\n{''.join(texts[index + 1 : index + 2])[:4000]}"
        )
        if _CAPTION.search(captions) and (index < 3 or _SEC.search(captions)):
            return index, form
        if _SEC.search(captions) and _SECTION_13.search(captions) and _FILE_CAPTION.search(captions):
            return index, form
    return None


def _is_holders_report(before: Sequence[str]) -> bool:
    """The pages before the SEC cover are those of a glossy annual report."""
    text = "\n".join(before)
    return bool(_ANNUAL_REPORT.search(text) or _HOLDERS.search(text))


def _sec_cover(cover: str, form_mark: re.Match[str], texts: Sequence[str]) -> Facts:
    form = normal_form(form_mark["form"])
    head = cover[:1500]
    amended = bool(form_mark["amended"]) or bool(_AMENDMENT.search(head) and not form.startswith("8-K12"))
    company = _registrant(cover) or signing_registrant(texts)
    story = "\n".join(texts[:_STORY_PAGES])
    former = _former_name(cover)
    facts = Facts(
        company=company,
        form=f"{form}/A" if amended else form,
        cik=_cik(cover),
        ticker=ticker(cover, texts),
        amendment=amended,
        aliases=aliases_of(company, story[:60_000], (former,) if former else ()) if company else (),
    )
    if form.startswith(("8-K", "6-K")):
        return _with_amends(replace(facts, period_end=_report_date(cover)), form)
    period_end = _period_end(cover)
    if period_end is None:
        return facts
    if form.startswith("10-Q"):
        facts = replace(facts, period_end=period_end)
        quarter = find_quarter(period_end, story)
        if quarter is not None:
            facts = replace(
                facts,
                fiscal_period=quarter.period,
                fiscal_year_end=f"{quarter.year_end:%m-%d}",
                fiscal_year=named_year(quarter.year_end, story, quarter.period),
            )
    else:
        facts = replace(
            facts,
            period_end=period_end,
            fiscal_period="FY",
            fiscal_year_end=f"{period_end:%m-%d}",
            fiscal_year=named_year(period_end, story),
        )
    return _with_amends(facts, form)


def _with_amends(facts: Facts, form: str) -> Facts:
    """An amendment restates the form of the same period."""
    if facts.amendment and facts.period_end:
        return replace(facts, amends=f"{form} {facts.period_end.isoformat()}")
    return facts


def normal_form(printed: str) -> str:
    """ "10 - K" is "10-K", "8k" is "8-K"."""
    match = re.fullmatch(r"(\d+)[\s-]*([A-Z].*)", printed.strip().upper())
    return f"{match[1]}-{match[2]}" if match else printed.strip().upper()


def _registrant(cover: str) -> str | None:
    """The name above its caption, else (co-registrants in a table) the first name below it; where the cover has no such
    caption, the first name below the Commission file number."""
    for caption in _CAPTION.finditer(cover):
        above = _name_above(cover[max(0, caption.start() - 500) : caption.start()].splitlines())
        if above:
            return above
        end = _CAPTION_END.search(cover, caption.end(), caption.end() + 120)
        below = _name_below(cover[end.end() if end else caption.end() :][:900].splitlines(), corporate=True)
        if below:
            return below
    if _CAPTION.search(cover) is None:
        number = _FILE_CAPTION.search(cover)
        if number:
            lines = cover[number.start() : number.start() + 600].splitlines()
            return _name_below(lines, corporate=True) or _name_below(lines, corporate=False)
    return None


def signing_registrant(texts: Sequence[str]) -> str | None:
    """The name above "(Registrant)" on the signature page, for covers that print the name as a picture."""
    for text in reversed(texts):
        if "egistrant)" not in text and "EGISTRANT)" not in text:
            continue
        page = plain(text)
        for match in _SIGNED.finditer(page):
            name = _name_above(page[max(0, match.start() - 300) : match.start()].splitlines())
            if name:
                return name
    return None


def _name_above(lines: list[str]) -> str | None:
    parts: list[str] = []
    for line in reversed(lines[-6:]):
        name = tidy_name(_FILE_NUMBER.sub("", line))
        if not _plausible(line, name):
            if parts or not (_FILE_NUMBER.fullmatch(line.strip()) or not _LETTERS.search(line)):
                break
            continue
        if parts and not _continues(name, parts[0]):
            break
        parts.insert(0, name)
    name = tidy_name(" ".join(parts))
    return name if name and not only_suffix(name) and len(name) <= MAX_NAME else None


def _continues(upper: str, lower: str) -> bool:
    """``lower`` is the rest of a name that begins on the line ``upper``."""
    return (
        only_suffix(lower)
        or upper.endswith((",", "&", " and", " of", " AND", " OF"))
        or lower[0].islower()
        or lower.startswith(("& ", "OF ", "AND "))
    )


def _name_below(lines: list[str], corporate: bool) -> str | None:
    """The first plausible name, with a corporate suffix where ``corporate`` (addresses follow, too)."""
    for line in lines:
        for cell in line.split(" | "):
            name = tidy_name(_FILE_NUMBER.sub("", cell))
            if (
                _plausible(cell, name)
                and not only_suffix(name)
                and (not corporate or _CORPORATE.search(name))
            ):
                return name
    return None


def _plausible(line: str, name: str) -> bool:
    return (
        bool(name)
        and len(name) <= MAX_NAME
        and bool(_LETTERS.search(name))
        and not _NO_NAME.search(line)
        and not _DATE_LINE.match(line)
        and not _JURISDICTION.fullmatch(line)
    )


def _former_name(cover: str) -> str | None:
    """A former name printed above its caption, not "N/A" or "Not applicable" or an address."""
    caption = _FORMER.search(cover)
    if caption is None:
        return None
    lines = cover[max(0, caption.start() - 200) : caption.start()].splitlines()
    name = tidy_name(lines[-1]) if lines else ""
    if not re.search(
        r"\b(?:inc|corp|corporation|company|co|ltd|limited|plc|llc|l\.p|holdings|group)\b\.?\s*$",
        name,
        re.IGNORECASE,
    ):
        return None
    return name if _plausible(lines[-1], name) else None


def _cik(cover: str) -> str | None:
    match = _CIK.search(cover)
    return padded_cik(match[1]) if match else None


def ticker(cover: str, texts: Sequence[str]) -> str | None:
    """The first trading symbol in the cover's table of securities (required since 2019), else one in the text
    ("under the symbol “AMZN”")."""
    head = _SYMBOL_HEAD.search(cover)
    if head:
        for line in cover[head.end() : head.end() + 900].splitlines():
            for cell in line.split(" | "):
                symbol = cell.strip(' “”"()')
                if _SYMBOL.fullmatch(symbol) and symbol not in _NOT_A_SYMBOL:
                    return symbol
    for text in texts[:60]:
        if "symbol" in text:
            found = _UNDER_SYMBOL.search(text)
            if found:
                return found[1]
    return None


def _period_end(cover: str) -> dt.date | None:
    """The date after "fiscal year ended" or "quarterly period ended"; columns may put other words between."""
    best: dt.date | None = None
    for mark in _PERIOD.finditer(cover[:5000]):
        end = mark.end()
        stop = _TRANSITION.search(cover, end, end + 200)
        best = first_date(cover, end, stop.start() if stop else end + 200)
        if best:
            return best
    transition = _TRANSITION.search(cover)
    if transition:
        dates = [date for _, _, date in find_dates(cover, transition.end(), transition.end() + 120)]
        if dates:
            return dates[-1]
    caption = _CAPTION.search(cover)
    return first_date(cover, 0, caption.start() if caption else 1500)


def _report_date(cover: str) -> dt.date | None:
    """The date of the earliest event reported, which EDGAR takes as the 8-K's period of report."""
    mark = _REPORT_DATE.search(cover)
    if mark is None:
        return first_date(cover, 0, 2500)
    end = mark.end()
    event = _EVENT.search(cover, end, end + 80)
    if event:
        end = event.end()
    after = list(find_dates(cover, end, end + 250))
    if after and after[0][0] - end < 120:
        # "May 5, 2023 (May 3, 2023)": the parenthesis holds the earliest event.
        if len(after) > 1 and "(" in cover[after[0][1] : after[1][0]] and after[1][0] - after[0][1] < 12:
            return after[1][2]
        return after[0][2]
    before = list(find_dates(cover, max(0, mark.start() - 200), mark.start()))
    if before:
        return before[-1][2]
    return after[0][2] if after else first_date(cover, 0, 3000)


def _holders_report(texts: Sequence[str]) -> Facts | None:
    """An annual report to holders without an SEC cover: the year from its title, the company from its text."""
    head = plain("\n".join(texts[:6]))
    if not _ANNUAL_REPORT.search(head) or not (_HOLDERS.search(head) or len(texts) >= 20):
        return None
    company = re.search(
        r"\b((?:[A-Z][\w&.’'-]{0,30} ){1,6}(?:Inc|Incorporated|Corporation|Corp|Company|plc|PLC|Ltd|Limited|Group|N\.V)\b\.?)",
        head,
    )
    if company is None:
        return None
    name = tidy_name(company[1])
    story = "\n".join(texts[:_STORY_PAGES])
    mark = re.search(r"\b(?:fiscal\s{1,3})?years?\s{1,3}ended\s{1,3}", story, re.IGNORECASE)
    period_end = first_date(story, mark.end(), mark.end() + 40) if mark else None
    return Facts(
        company=name,
        form=ANNUAL_REPORT_TO_HOLDERS,
        amendment=False,
        ticker=ticker("", texts),
        period_end=period_end,
        fiscal_period="FY",
        fiscal_year=named_year(period_end, story) if period_end else None,
        fiscal_year_end=f"{period_end:%m-%d}" if period_end else None,
        aliases=aliases_of(name, story[:60_000]),
    )

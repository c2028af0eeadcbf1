"""Cover facts from the text of a filing's first pages.

The cover pages of Forms 10-K, 10-Q and 8-K are laid down by the SEC (Form 10-K, General Instructions), so
their captions are the anchors: "(Exact name of registrant as specified in its charter)", "For the fiscal year
ended", "Date of earliest event reported". Earnings releases have no such cover: see ``release``.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import replace

from finray.core.types import ANNUAL_REPORT_TO_HOLDERS
from finray.filings.dates import find_dates, first_date
from finray.filings.facts import Facts, file_number, padded_cik
from finray.filings.fiscal_text import find_quarter, named_year
from finray.filings.names import aliases_of
from finray.filings.registrant import FILE_CAPTION, NAME_CAPTION, former_name, registrant, signing_registrant
from finray.filings.release import read_release, statement_heading

_COVER_PAGES = 24
"""How far in a cover page is looked for: annual reports to holders wrap one behind letters and pictures."""
_STORY_PAGES = 40
"""How far in the names of fiscal years and the company's short names are looked for."""
_COVER_CHARACTERS = 40_000
_STORY_CHARACTERS = 300_000
_WHOLE_CHARACTERS = 1_000_000
_PAGE_CHARACTERS = 20_000
"""Of the cover's pages, the story's, all, and one: hostile pages are longer than any that are printed."""
_ALIAS_CHARACTERS = 60_000
_SHORT_PAGE = 1500
"""A page with fewer characters holds only the cover's top."""

_FORM = re.compile(
    r"\bform\s{0,4}(?P<form>10\s?-?\s?k(?:sb|405|t)?|10\s?-?\s?q(?:sb|t)?|8\s?-?\s?k(?:12[bg]\d?)?"
    r"|20-?f|40-?f|6-?k|11-?k)(?P<amended>\s{0,3}/\s{0,2}a)?\b(?!\w)",
    re.IGNORECASE,
)
_SEC = re.compile(r"securities\s{1,4}(?:and|&)\s{1,4}exchange\s{1,4}commission", re.IGNORECASE)
_SECTION_13 = re.compile(r"pursuant\s{1,3}to\s{1,3}sections?\s{1,3}1[35]", re.IGNORECASE)
_PERIOD = re.compile(
    r"(?:fiscal\s{1,3}year|transition\s{1,3}period|quarterly\s{1,3}period|fiscal\s{1,3}quarter|quarter|period"
    r"|year"
    r"|weeks|months)\s{1,3}end(?:ed|ing)\s{0,3}:?",
    re.IGNORECASE,
)
_TRANSITION = re.compile(r"transition\s{1,3}period\s{1,3}from", re.IGNORECASE)
_REPORT_DATE = re.compile(r"date\s{1,3}of\s{1,3}(?:earliest\s{1,3}event\s{1,3})?report(?:ed)?", re.IGNORECASE)
_EVENT = re.compile(r"earliest\s{1,3}event(?:\s{1,3}reported)?", re.IGNORECASE)
_AMENDMENT = re.compile(r"\bamendment\s{1,3}no\.?\s{0,3}\d{1,2}\b", re.IGNORECASE)
_CIK = re.compile(
    r"\b(?:central\s{1,3}index\s{1,3}key|CIK)\s{0,3}(?:no\.?|number|#|code)?\s{0,3}[:.]?\s{0,3}(\d{6,10})\b",
    re.IGNORECASE,
)
_SYMBOL_HEAD = re.compile(r"(?:trading|ticker)\s{1,3}symbols?\s{0,2}(?:\(s\))?", re.IGNORECASE)
_SYMBOL = re.compile(r"[A-Z]{1,5}(?:[. ][A-Z])?")
_NOT_A_SYMBOL = frozenset(["NYSE", "N/A", "NONE", "LLC", "INC", "YES", "NO", "OR", "THE", "AND", "OF", "CBOE", "OTC"])
_UNDER_SYMBOL = re.compile(
    r"\b(?:under|by)\s{1,3}(?:the\s{1,3})?(?:ticker\s{1,3}|trading\s{1,3}"
    r"|stock\s{1,3})?symbols?\s{0,3}[“\"‘']?\s?"
    r"([A-Z]{1,5})\b"
)
_ANNUAL_REPORT = re.compile(
    r"\bannual\s{1,3}(?:report|review)\b(?!\s{1,3}(?:on|pursuant|under|for\s{1,3}the))"
    r"|\breport\s{1,3}to\s{1,3}(?:share|stock)holders\b",
    re.IGNORECASE,
)
_HOLDERS = re.compile(
    r"\b(?:dear|to\s{1,3}our|fellow)\s{1,3}(?:fellow\s{1,3})?(?:share|stock)(?:holders|owners)\b"
    r"|\bletter\s{1,3}to\s{1,3}(?:our\s{1,3})?(?:share|stock)(?:holders|owners)",
    re.IGNORECASE,
)
_YEARS_ENDED = re.compile(r"\b(?:fiscal\s{1,3})?years?\s{1,3}ended\s{1,3}", re.IGNORECASE)


def read_cover(texts: Sequence[str]) -> Facts:
    """Facts of the filing whose pages are ``texts``; empty where they read as no filing at all."""
    found = _find_cover(texts)
    if found is None:
        return read_release(texts) or _holders_report(texts) or Facts()
    index, form = found
    facts = _sec_cover(plain("\n".join(texts[index : index + 2])[:_COVER_CHARACTERS]), form, texts)
    if index and facts.form == "10-K" and _is_holders_report(texts[:index]):
        return replace(facts, form=ANNUAL_REPORT_TO_HOLDERS)
    return facts


def plain(text: str) -> str:
    """Text for matching: spaces of all kinds are one kind, lines are stripped, blank lines and rules are
    dropped."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip(" _-–—*.=|"))


def normal_form(printed: str) -> str:
    """ "10 - K" is "10-K", "8k" is "8-K"."""
    match = re.fullmatch(r"(\d+)[\s-]*([A-Z].*)", printed.strip().upper())
    return f"{match[1]}-{match[2]}" if match else printed.strip().upper()


def _find_cover(texts: Sequence[str]) -> tuple[int, re.Match[str]] | None:
    """(page, form mark) of the first page that bears a form's name and the captions of an SEC cover page."""
    for index, text in enumerate(texts[:_COVER_PAGES]):
        form = _FORM.search(text[:6000])
        if form is None:
            continue
        captions = text[:8000]
        if len(text) <= _SHORT_PAGE:
            captions += "\n" + "".join(texts[index + 1 : index + 2])[:4000]
        if NAME_CAPTION.search(captions) and (index < 3 or _SEC.search(captions)):
            return index, form
        if _SEC.search(captions) and _SECTION_13.search(captions) and FILE_CAPTION.search(captions):
            return index, form
    return None


def _is_holders_report(before: Sequence[str]) -> bool:
    """The pages before the SEC cover are those of a glossy annual report."""
    text = "\n".join(before)[:_STORY_CHARACTERS]
    return bool(_ANNUAL_REPORT.search(text) or _HOLDERS.search(text))


def _sec_cover(cover: str, form_mark: re.Match[str], texts: Sequence[str]) -> Facts:
    form = normal_form(form_mark["form"])
    amended = bool(form_mark["amended"] or _AMENDMENT.search(cover[:1500]))
    company = registrant(cover) or signing_registrant(
        [plain(text) for text in texts if "egistrant)" in text or "EGISTRANT)" in text]
    )
    story = "\n".join(texts[:_STORY_PAGES])[:_STORY_CHARACTERS]
    former = former_name(cover)
    facts = Facts(
        company=company,
        form=f"{form}/A" if amended else form,
        cik=_cik(cover),
        ticker=_ticker(cover, texts),
        commission_file_number=_commission_file_number(cover),
        amendment=amended,
        aliases=aliases_of(company, story[:_ALIAS_CHARACTERS], (former,) if former else ()) if company else (),
    )
    if form.startswith(("8-K", "6-K")):
        facts = replace(facts, period_end=_report_date(cover))
    else:
        facts = _with_period(facts, form, _period_end(cover), story)
    if amended and facts.period_end:
        # An amendment restates the form of the same period.
        facts = replace(facts, amends=f"{form} {facts.period_end.isoformat()}")
    return facts


def _with_period(facts: Facts, form: str, period_end: dt.date | None, story: str) -> Facts:
    """``facts`` with the period and its place in the company's fiscal year."""
    if period_end is None:
        return facts
    if not form.startswith("10-Q"):
        return replace(
            facts,
            period_end=period_end,
            fiscal_period="FY",
            fiscal_year_end=f"{period_end:%m-%d}",
            fiscal_year=named_year(period_end, story),
        )
    quarter = find_quarter(period_end, story)
    if quarter is None:
        return replace(facts, period_end=period_end)
    return replace(
        facts,
        period_end=period_end,
        fiscal_period=quarter.period,
        fiscal_year_end=f"{quarter.year_end:%m-%d}",
        fiscal_year=named_year(quarter.year_end, story, quarter.period),
    )


def _commission_file_number(cover: str) -> str | None:
    """The number beside its caption; a cover of co-registrants lists several, the first is the filer's."""
    caption = FILE_CAPTION.search(cover)
    if caption is None:
        return None
    return file_number(cover[caption.end() : caption.end() + 60]) or file_number(
        cover[max(0, caption.start() - 40) : caption.start()]
    )


def _cik(cover: str) -> str | None:
    match = _CIK.search(cover)
    return padded_cik(match[1]) if match else None


def _ticker(cover: str, texts: Sequence[str]) -> str | None:
    """The first trading symbol in the cover's table of securities (required since 2019), else one in the text
    ("under the symbol “AMZN”")."""
    head = _SYMBOL_HEAD.search(cover)
    if head:
        for line in cover[head.end() : head.end() + 900].splitlines():
            for cell in line.split(" | "):
                symbol = cell.strip(' “”"()—–-')
                if _SYMBOL.fullmatch(symbol) and symbol not in _NOT_A_SYMBOL:
                    return symbol
    for text in texts[:60]:
        if "symbol" in text:
            found = _UNDER_SYMBOL.search(text, 0, _PAGE_CHARACTERS)
            if found:
                return found[1]
    return None


def _period_end(cover: str) -> dt.date | None:
    """The date after "fiscal year ended" or "quarterly period ended"; columns may put other words between."""
    for mark in _PERIOD.finditer(cover[:5000]):
        end = mark.end()
        stop = _TRANSITION.search(cover, end, end + 200)
        found = first_date(cover, end, stop.start() if stop else end + 200)
        if found:
            return found
    transition = _TRANSITION.search(cover)
    if transition:
        dates = [date for _, _, date in find_dates(cover, transition.end(), transition.end() + 120)]
        if dates:
            return dates[-1]
    caption = NAME_CAPTION.search(cover)
    return first_date(cover, 0, caption.start() if caption else _SHORT_PAGE)


def _report_date(cover: str) -> dt.date | None:
    """The date of the earliest event reported, which EDGAR takes as the 8-K's period of report."""
    mark = _REPORT_DATE.search(cover)
    if mark is None:
        return first_date(cover, 0, 2500)
    event = _EVENT.search(cover, mark.end(), mark.end() + 80)
    end = event.end() if event else mark.end()
    after = list(find_dates(cover, end, end + 250))
    if after and after[0][0] - end < 120:
        # "May 5, 2023 (May 3, 2023)": the parenthesis holds the earliest event.
        between = cover[after[0][1] : after[1][0]] if len(after) > 1 else ""
        return after[1][2] if "(" in between and len(between) < 12 else after[0][2]
    before = list(find_dates(cover, max(0, mark.start() - 200), mark.start()))
    if before:
        return before[-1][2]
    return after[0][2] if after else first_date(cover, 0, 3000)


def _holders_report(texts: Sequence[str]) -> Facts | None:
    """An annual report to holders without an SEC cover: its company heads the financial statements."""
    head = plain("\n".join(texts[:6])[:_STORY_CHARACTERS])
    if not _ANNUAL_REPORT.search(head):
        return None
    whole = "\n".join(texts)[:_WHOLE_CHARACTERS]
    company = statement_heading(whole)
    mark = _YEARS_ENDED.search(whole)
    period_end = first_date(whole, mark.end(), mark.end() + 40) if mark else None
    if company is None or period_end is None:
        return None
    return Facts(
        company=company,
        form=ANNUAL_REPORT_TO_HOLDERS,
        amendment=False,
        ticker=_ticker("", texts),
        period_end=period_end,
        fiscal_period="FY",
        fiscal_year=named_year(period_end, whole[:200_000]),
        fiscal_year_end=f"{period_end:%m-%d}",
        aliases=aliases_of(company, whole[:_ALIAS_CHARACTERS]),
    )

"""Cover facts from the text of a filing's first pages.

The SEC prescribes the cover pages of Forms 10-K, 10-Q and 8-K (Form 10-K, General Instructions), so their captions are
the anchors (see ``tables.captions``): "(Exact name of registrant as specified in its charter)", "For the fiscal year
ended", "Date of earliest event reported". Earnings releases have no such cover (see ``release``).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from finray.core.filing import FactSource
from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS, CURRENT, FORMS
from finray.filings.cover.body_facts import body_company, read_body
from finray.filings.cover.cover_dates import period_end, report_date
from finray.filings.cover.facts import Facts, file_number, merge, padded_cik
from finray.filings.cover.fiscal_text import with_period
from finray.filings.cover.names import aliases_of
from finray.filings.cover.registrant import former_name, registrant
from finray.filings.cover.release import read_release, statement_heading
from finray.filings.dates import first_date
from finray.filings.phrases import phrase
from finray.filings.tables.captions import CoverText, cover_signs, fold, plain

_COVER_PAGES = 24
"""Pages searched for a cover: annual reports to holders print letters and pictures before it."""
_TEXT_PAGES = 40
"""Pages searched for the names of fiscal years and the company's short names."""
_TEXT_CHARACTERS = 300_000
_WHOLE_CHARACTERS = 1_000_000
_PAGE_CHARACTERS = 20_000
"""Characters searched in those pages, in all pages, and in one page: hostile pages are longer than printed ones."""
_ALIAS_CHARACTERS = 60_000
_SHORT_PAGE = 1500
"""Characters; a shorter page holds only the top of the cover."""
_HEAD, _LONG_PAGE = 6000, 20_000
_HEADING = 20
"""Characters at the beginning of a line, which a form's name within them heads."""
_SIGNS_UNDER_FORM, _SIGNS_WITH_FORM, _SIGNS_ALONE = 3, 4, 5
"""Minimum number of captions of a cover if a form's name begins a line, if the page mentions one, and if it does not.
The caption of the registrant's name counts twice."""


def _printed(folded: str) -> str:
    """The pattern of a form's name on a cover. A name that digits could print ("S-1", like 51) follows the word "form"
    directly."""
    return folded if re.search("[^iosb\\d]", folded) else rf"(?<=form){folded}|(?<=formno){folded}"


# As in folded text: "10-K" is "iok".
_FORMS = {fold(form.name): form.name for form in FORMS if form.on_cover}
_FORM = re.compile(rf"(?P<word>form(?:no)?)?(?P<form>{'|'.join(map(_printed, _FORMS))})")
_FORM_END = re.compile(r"(?P<suffix>-?405|-?SB|-?T|12[BG]\d?)?(?P<amended>\s{0,3}/\s{0,2}A)?(?![^\W_])", re.IGNORECASE)
_TITLES = tuple((fold(form.heading), form.name) for form in FORMS if form.heading)
_AMENDMENT = phrase(r"\bamendment no\.?\s{0,3}\d{1,2}\b")
_CIK = phrase(r"\b(?:central index key|CIK)\s{0,3}(?:no\.?|number|#|code)?\s{0,3}[:.]?\s{0,3}(\d{6,10})\b")
_SYMBOL_HEAD = phrase(r"(?:trading|ticker) symbols?\s{0,2}(?:\(s\))?")
_SYMBOL = re.compile(r"[A-Z]{1,5}(?:[. ][A-Z])?")
_NOT_A_SYMBOL = frozenset(["NYSE", "N/A", "NONE", "LLC", "INC", "YES", "NO", "OR", "THE", "AND", "OF", "CBOE", "OTC"])
_UNDER_SYMBOL = re.compile(
    r"\b(?:under|by)\s{1,3}(?:the\s{1,3})?(?:(?:ticker|trading|stock)\s{1,3})?symbols?\s{0,3}[“\"‘']?\s?([A-Z]{1,5})\b"
)
_ANNUAL_REPORT = phrase(
    r"\bannual (?:report|review)\b(?! (?:on|pursuant|under|for the))|\breport to (?:share|stock)holders\b"
)
_HOLDERS = phrase(
    r"\b(?:dear|to our|fellow) (?:fellow )?(?:share|stock)(?:holders|owners)\b"
    r"|\bletter to (?:our )?(?:share|stock)(?:holders|owners)"
)
_YEARS_ENDED = phrase(r"\b(?:fiscal )?years? ended ")


def read_cover(texts: Sequence[str]) -> Facts:
    """The facts of the filing with the pages ``texts``; empty if they are not those of a filing."""
    return merge(read_facts(texts))[0]


def read_facts(texts: Sequence[str], known: Facts | None = None) -> dict[FactSource, Facts]:
    """The facts by source, the best first: the cover, then the report's text for facts that neither the cover nor
    ``known`` (facts from better sources) has."""
    start = _find_cover(texts)
    if start is None:
        facts = read_release(texts) or _holders_report(texts) or Facts()
    else:
        facts = _sec_cover(start, texts)
        if start and facts.form == "10-K" and _is_holders_report(texts[:start]):
            facts = replace(facts, form=ANNUAL_REPORT_TO_HOLDERS)
    sources: dict[FactSource, Facts] = {"cover": facts}
    merged = merge({"sgml": known or Facts(), "cover": facts})[0]
    if merged.company is None or merged.form is None or merged.period_end is None:
        sources["text"] = read_body(texts, merged)
    return sources


def _find_cover(texts: Sequence[str]) -> int | None:
    """The number of the first page with a form's name and captions of an SEC cover, or with many captions and no name.
    If the page has little text, the captions of the next page count too."""
    for index, text in enumerate(texts[:_COVER_PAGES]):
        signs = cover_signs(text[:_HEAD])
        if signs and len(text) <= _SHORT_PAGE:
            signs |= cover_signs("".join(texts[index + 1 : index + 2])[:_HEAD])
        count = len(signs) + ("name" in signs)
        if count >= _SIGNS_ALONE or (count >= _SIGNS_UNDER_FORM and count >= _signs_wanted(text)):
            return index
    return None


def _signs_wanted(page: str) -> int:
    head = CoverText(plain(page[:_HEAD]))
    if _form(head) is None:
        return _SIGNS_ALONE
    headed = any(_form(CoverText(line[:_HEADING])) for line in head.text.splitlines())
    return _SIGNS_UNDER_FORM if headed else _SIGNS_WITH_FORM


def _form(cover: CoverText) -> tuple[str, bool] | None:
    """(form, whether amended): the first form named, else that of the kind of report that the cover names."""
    text = cover.text[:_HEAD]
    for match, start, end in cover.search(_FORM):
        if end > len(text):
            break
        tail = _FORM_END.match(text, end)
        if tail is None or text[start - 1 : start].isalnum():
            continue
        alone = text[start - 1 : start] in ("", "\n") and text[tail.end() : tail.end() + 1] in ("", "\n")
        if match["word"] or alone:
            suffix = (tail["suffix"] or "").upper().lstrip("-")
            return _FORMS[match["form"]] + suffix, tail["amended"] is not None
    folded = fold(text)
    return next(((form, False) for title, form in _TITLES if title in folded), None)


def _is_holders_report(before: Sequence[str]) -> bool:
    """Whether the pages before the SEC cover are those of a glossy annual report."""
    text = "\n".join(before)[:_TEXT_CHARACTERS]
    return bool(_ANNUAL_REPORT.search(text) or _HOLDERS.search(text))


def _sec_cover(start: int, texts: Sequence[str]) -> Facts:
    first, second = (plain("".join(texts[page : page + 1])[:_LONG_PAGE]) for page in (start, start + 1))
    cover = CoverText(f"{first}\n{second}")
    form, amended = _form(cover) or (None, False)
    amended = amended or _AMENDMENT.search(cover.text[:1500]) is not None
    beginning = "\n".join(texts[:_TEXT_PAGES])[:_TEXT_CHARACTERS]
    rest = "\n".join((*texts[:start], *texts[start + 1 : _TEXT_PAGES]))[:_TEXT_CHARACTERS]
    company = registrant(cover, rest, signed=lambda: body_company(texts))
    former = former_name(cover)
    facts = Facts(
        company=company,
        form=f"{form}/A" if form and amended else form,
        cik=padded_cik(cik[1]) if (cik := _CIK.search(cover.text)) else None,
        ticker=_ticker(cover.text, texts),
        commission_file_number=_commission_file_number(cover),
        amendment=amended,
        aliases=aliases_of(company, beginning[:_ALIAS_CHARACTERS], (former,) if former else ()) if company else (),
    )
    if form is not None and form.startswith(CURRENT):
        facts = replace(facts, period_end=report_date(cover))
    else:
        page_end = len(first) if len(first) > _SHORT_PAGE else len(cover.text)
        facts = with_period(facts, form, period_end(cover, form or "", page_end), beginning)
    if form and amended and facts.period_end:
        # An amendment restates the form of the same period.
        facts = replace(facts, amends=f"{form} {facts.period_end.isoformat()}")
    return facts


def _commission_file_number(cover: CoverText) -> str | None:
    """The number beside its caption. Covers of co-registrants list several; the first is the filer's."""
    caption = cover.first("file") or cover.first("employer")
    if caption is None:
        return None
    return file_number(cover.text[caption.end : caption.end + 60]) or file_number(
        cover.text[max(0, caption.start - 40) : caption.start]
    )


def _ticker(cover: str, texts: Sequence[str]) -> str | None:
    """The first symbol in the cover's table of securities (required since 2019), else one in the text ("under the
    symbol “AMZN”")."""
    head = _SYMBOL_HEAD.search(cover)
    if head:
        for line in cover[head.end() : head.end() + 900].splitlines():
            for cell in line.split(" | "):
                symbol = cell.strip(' “”"()—–-')
                if _SYMBOL.fullmatch(symbol) and symbol not in _NOT_A_SYMBOL:
                    return symbol
    for text in texts[:60]:
        if "symbol" in text and (found := _UNDER_SYMBOL.search(text, 0, _PAGE_CHARACTERS)):
            return found[1]
    return None


def _holders_report(texts: Sequence[str]) -> Facts | None:
    """The facts of an annual report to holders without an SEC cover, which names the company above its statements."""
    head = plain("\n".join(texts[:6])[:_TEXT_CHARACTERS])
    if not _ANNUAL_REPORT.search(head):
        return None
    whole = "\n".join(texts)[:_WHOLE_CHARACTERS]
    company = statement_heading(whole)
    mark = _YEARS_ENDED.search(whole)
    period_end = first_date(whole, mark.end(), mark.end() + 40) if mark else None
    if company is None or period_end is None:
        return None
    facts = Facts(
        company=company,
        form=ANNUAL_REPORT_TO_HOLDERS,
        amendment=False,
        ticker=_ticker("", texts),
        aliases=aliases_of(company, whole[:_ALIAS_CHARACTERS]),
    )
    return with_period(facts, ANNUAL_REPORT_TO_HOLDERS, period_end, whole[:200_000])

"""The registrant's name on an SEC cover page or signature page, found by the captions that the forms
prescribe."""

from __future__ import annotations

import re
from collections.abc import Sequence

from finray.filings.names import MAX_NAME, only_suffix, tidy_name

NAME_CAPTION = re.compile(
    r"\(?\s{0,3}exact\s{1,3}names?\s{1,3}of\s{1,3}(?:each\s{1,3}|the\s{1,3}|small\s{1,3}business\s{1,3}"
    r"|small\s{1,3})?"
    r"(?:registrants?|company|issuers?|corporation|companies)"
    r"|\(\s{0,3}(?:full\s{1,3})?names?\s{1,3}of\s{1,3}(?:the\s{1,3})?(?:small\s{1,3}business\s{1,3}issuer"
    r"|registrant|issuer)",
    re.IGNORECASE,
)
FILE_CAPTION = re.compile(r"commission\s{1,3}file\s{1,3}(?:numbers?|no)|\bi\.?r\.?s\.?\s{1,3}employer", re.IGNORECASE)
_CAPTION_END = re.compile(r"(?:charters?|articles)[^\S\n]{0,3}\)?[.:]?", re.IGNORECASE)
_FORMER = re.compile(r"\(\s{0,3}(?:former|previous)\s{1,3}names?\b", re.IGNORECASE)
_SIGNED = re.compile(r"\(\s{0,2}registrant\s{0,2}\)", re.IGNORECASE)
_CORPORATE = re.compile(
    r"\b(?:inc|incorporated|corp|corporation|company|co|ltd|limited|plc|llc|l\.l\.c|l\.?p|n\.?v|s\.?a|trust"
    r"|group"
    r"|holdings|bancorp|partnership)\b\.?\W*$",
    re.IGNORECASE,
)
_CAPTION_WORDS = re.compile(
    r"commission\s+file|file\s+n(?:umber|o)|\bmark\s+one\b|transition\s+(?:report|period)|\bform\s+(?:10|8|20"
    r"|40|6)\b"
    r"|i\.?r\.?s\.?\s+employer|\bemployer\b|identification|state\s+(?:or|of)|jurisdiction|incorporat(?:ion"
    r"|ed in)"
    r"|telephone|washington,?\s+d\.?c|20549|securities\s+(?:and|&)|\bpursuant\b|annual\s+report"
    r"|quarterly\s+report"
    r"|current\s+report|\bfor\s+the\s+|\bended\b|\breported\b|date\s+of|amendment\s+no|principal\s+executive"
    r"|zip\s+code|exchange\s+act|exact\s+name|specified\s+in|table\s+of\s+contents|^united\s+states$"
    r"|earliest\s+event"
    r"|conformed|edgar|^signatures?$|undersigned|^\W*number\W|^\W*(?:or|of|to|and|for|from|x)\W*$",
    re.IGNORECASE,
)
_FILE_NUMBER = re.compile(
    r"(?:number|no\.?|file)?\s{0,3}:?\s{0,3}\b\d{1,3}\s?[-–‑]\s?\d{3,6}(?:[-–]\d{1,3})?\b[.:]?", re.IGNORECASE
)
_DATE_LINE = re.compile(r"^\W*(?:[A-Z][a-z]{2,8}\.?\s+\d{1,2},?\s+)?(?:19|20)\d\d\W*(?:or)?\W*$")
_LETTERS = re.compile(r"[A-Za-z]{2}|\d[A-Z]\b|[A-Z]\s?&\s?[A-Z]")
_JURISDICTION = re.compile(
    r"\W*(?:state of |commonwealth of |province of )?(?:alabama|alaska|arizona|arkansas|california|colorado"
    r"|connecticut"
    r"|delaware|florida|georgia|hawaii|idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland"
    r"|massachusetts"
    r"|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico"
    r"|new york"
    r"|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|south carolina|south dakota"
    r"|tennessee"
    r"|texas|utah|vermont|virginia|washington|west virginia|wisconsin|wyoming|district of columbia"
    r"|puerto rico|bermuda"
    r"|cayman islands|ireland|jersey|england(?: and wales)?|united kingdom|(?:the )?netherlands|luxembourg"
    r"|switzerland"
    r"|canada|israel|british virgin islands|marshall islands|ontario|british columbia|singapore|liberia"
    r"|panama|curaçao"
    r"|[a-z]{2})\W*",
    re.IGNORECASE,
)


def registrant(cover: str) -> str | None:
    """The registrant's name on ``cover`` (text without blank lines), None where it is not printed as text.

    It stands above its caption, or below it where co-registrants share a table; where the form's caption is
    missing, it is the first name after the Commission file number.
    """
    for caption in NAME_CAPTION.finditer(cover):
        above = _name_above(cover[max(0, caption.start() - 500) : caption.start()].splitlines())
        if above:
            return above
        end = _CAPTION_END.search(cover, caption.end(), caption.end() + 120)
        below = _name_below(cover[end.end() if end else caption.end() :][:900].splitlines(), corporate=True)
        if below:
            return below
    number = FILE_CAPTION.search(cover)
    if number is None or NAME_CAPTION.search(cover):
        return None
    lines = cover[number.start() : number.start() + 600].splitlines()
    return _name_below(lines, corporate=True) or _name_below(lines, corporate=False)


def signing_registrant(pages: Sequence[str]) -> str | None:
    """The name above "(Registrant)" on the signature page, for covers that print the name as a picture."""
    for page in reversed(pages):
        for match in _SIGNED.finditer(page):
            name = _name_above(page[max(0, match.start() - 300) : match.start()].splitlines())
            if name:
                return name
    return None


def former_name(cover: str) -> str | None:
    """A former name printed above its caption; "N/A", addresses and telephone numbers are none."""
    caption = _FORMER.search(cover)
    if caption is None:
        return None
    lines = cover[max(0, caption.start() - 200) : caption.start()].splitlines()
    name = tidy_name(lines[-1]) if lines else ""
    return name if name and _CORPORATE.search(name) and _plausible(lines[-1], name) else None


def _name_above(lines: list[str]) -> str | None:
    """The name that ends above a caption; it may be broken over lines ("ADVANCED MICRO", "DEVICES, INC.")."""
    parts: list[str] = []
    for line in reversed(lines[-6:]):
        name = tidy_name(_FILE_NUMBER.sub("", line))
        if not _plausible(line, name):
            if parts or _LETTERS.search(name):
                break
            continue
        if parts and not _continues(name, " ".join(parts)):
            break
        parts.insert(0, name)
    name = tidy_name(" ".join(parts))
    return name if name and not only_suffix(name) and len(name) <= MAX_NAME else None


def _continues(upper: str, lower: str) -> bool:
    """``lower`` is the rest of a name that begins on the line ``upper``: it is no name by itself, or
    ``upper`` is no complete one, in the same capitals."""
    if (
        only_suffix(lower)
        or upper.endswith((",", "&"))
        or lower[0].islower()
        or lower.startswith(("& ", "OF ", "AND "))
    ):
        return True
    complete = _CORPORATE.search(upper) or len(upper.split()) > 6 or "(" in upper
    return not complete and upper.isupper() == lower.isupper()


def _name_below(lines: list[str], corporate: bool) -> str | None:
    """The first plausible name, with a corporate suffix where ``corporate`` (addresses follow, too)."""
    for line in lines:
        for cell in line.split(" | "):
            name = tidy_name(_FILE_NUMBER.sub("", cell))
            if _plausible(cell, name) and not only_suffix(name) and (not corporate or _CORPORATE.search(name)):
                return name
    return None


def _plausible(line: str, name: str) -> bool:
    return (
        0 < len(name) <= MAX_NAME
        and bool(_LETTERS.search(name))
        and not _CAPTION_WORDS.search(line)
        and not _DATE_LINE.match(line)
        and not _JURISDICTION.fullmatch(line)
    )

"""Finds the standard parts of a filing that are not Items: cover, contents, signatures and exhibits.

Exhibits (Regulation S-K, Item 601) can be longer than the report they belong to: credit agreements, indentures, plans,
lists of subsidiaries. They follow the signatures and use the report's words, so ranking must distinguish them.
"""

import re
from collections.abc import Sequence

from finray.core.filing import Place, Statement
from finray.core.forms import PERIODIC

COVER_PAGES = 3
CONTENTS_PAGES = 8
MIN_LISTED = 6
"""A page that lists at least this many Items, or titles with page numbers, is the table of contents."""
HEAD_LINES = 6
"""An exhibit is named within this many lines at the top of its first page."""

_COVER = re.compile(r"commission file|exact name of registrant|securities registered pursuant to section 12", re.I)
_LISTED = re.compile(r"^[^\S\n]*items?\s{1,3}\d{1,2}", re.I | re.M)
_LEADER = re.compile(r"(?<!\.)(?<!\.\s)(?>(?:\.\s?){4,})\s*+\d{1,3}\b|^[^\n]{8,90}\s{2,40}+\d{1,3}[^\S\n]*+$", re.M)
_CONTENTS = re.compile(r"^[^\w\n]*+(?:table of contents|contents|index)[^\w\n]*+$", re.I | re.M)
_SIGNATURES = re.compile(
    r"pursuant\s+to\s+the\s+requirements\s+of\s+(?:section\s+13|the\s+securities).{0,200}?"
    r"(?:signed\s+on\s+its\s+behalf|caused\s+this)",
    re.I | re.S,
)
_EXHIBIT_INDEX = re.compile(
    r"^[^\w\n]*+(?:exhibit index|index to exhibits|exhibits?\s*+(?:number|no\.)|incorporated by reference)\b",
    re.I | re.M,
)
_EXHIBIT = re.compile(r"^\W*(?:exhibit|ex)[\s.\-–]*\(?(\d{1,3})(?:[.\-](\d+|[a-z]))?", re.I)
_CERTIFICATION = re.compile(r"^[^\w\n]*+certifications?\b|\bI, [^,]{3,60}, certify that", re.I | re.M)


def label_places(texts: Sequence[str], statements: Sequence[Statement | None], form: str) -> list[Place | None]:
    """The standard place of each page, None for pages of Items; ``len(result) == len(texts)``.

    Only periodic reports have the place "exhibit": the exhibit of an 8-K is its main content.
    """
    labels: list[Place | None] = [None] * len(texts)
    for page, text in enumerate(texts):
        if page < COVER_PAGES and _COVER.search(text):
            labels[page] = "cover"
        elif page < CONTENTS_PAGES and statements[page] is None and _lists_contents(text):
            labels[page] = "contents"
        elif statements[page] is None and _SIGNATURES.search(text):
            labels[page] = "signatures"
        elif _EXHIBIT_INDEX.search(text[:1500]) and len(re.findall(r"\bexhibit|\bincorporated", text, re.I)) >= 3:
            labels[page] = "exhibit_index"
    if form.removesuffix("/A") in PERIODIC:
        _mark_exhibits(texts, statements, labels)
    return labels


def _mark_exhibits(texts: Sequence[str], statements: Sequence[Statement | None], labels: list[Place | None]) -> None:
    """Label the pages after both signatures and statements. If the statements follow the signatures ("F-pages"), or
    there are no signatures, exhibits start at the first later page named as one."""
    signed = max((page for page, place in enumerate(labels) if place == "signatures"), default=None)
    stated = max((page for page, statement in enumerate(statements) if statement), default=-1)
    if signed is not None and signed > stated:
        start = signed + 1
    else:
        start = next((page for page in range(stated + 1, len(texts)) if _is_exhibit_start(texts[page])), len(texts))
    for page in range(start, len(texts)):
        if labels[page] is None and statements[page] is None:
            labels[page] = "exhibit"


def _is_exhibit_start(text: str) -> bool:
    lines = [line.strip() for line in text.split("\n") if line.strip()][:HEAD_LINES]
    return any(_EXHIBIT.match(line) and len(line) <= 40 for line in lines) or bool(_CERTIFICATION.search(text[:600]))


def _lists_contents(text: str) -> bool:
    listed, titled = len(_LISTED.findall(text)), _CONTENTS.search(text[:400]) is not None
    if listed >= MIN_LISTED and (titled or len(text) < 260 * listed):
        return True
    return titled and len(_LEADER.findall(text)) >= MIN_LISTED

"""Finds the SEC Item that each page belongs to.

Form 10-K numbers its Items "1" to "16" (``"1"``, ``"1A"``, ``"7"``, ``"7A"``, ``"8"``...). Form 10-Q numbers them per
part; they come out as ``"P1-1"`` ... ``"P1-4"`` and ``"P2-1"``, ``"P2-1A"`` ... ``"P2-6"``. Form 8-K's are ``"2.02"``.

An Item starts at a line "Item 7. Management's Discussion ...". Tables of contents, cross-reference indexes and
sentences that cite an Item print the same words. They are distinguished by crowding (many Items on one page with
little text between) and by order: headings follow the form's, so the heaviest non-decreasing chain of candidates is
kept.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from finray.core.filing import Statement
from finray.filings.tables.statements import label_statements

_MARGIN = r"^[^\S\n]*(?:[|•*][^\S\n]*)*"
_HEADING = re.compile(
    _MARGIN + r"items?\s{1,3}(?P<item>\d{1,2}(?:\.\d\d|[^\S\n]?\(?[abc]\)?(?![a-z]))?)"
    r"(?=(?P<rest>[^\n]*(?:\n[^\n]*){0,3}))",
    re.IGNORECASE | re.MULTILINE,
)
_PART = re.compile(_MARGIN + r"part[^\S\n]+(?P<part>iv|i{1,3})\b", re.IGNORECASE | re.MULTILINE)
_CITED = re.compile(
    r"^\s*(?:\(|,|of (?:this|our|the|part)|in (?:this|our|the|part)|to (?:this|our|the)|and|above|"
    r"below|contains?|"
    r"under|herein|is |are |for |has |through|as |to |or )",
    re.IGNORECASE,
)

_TITLES_10K: dict[str, str] = {
    "1": r"business",
    "1A": r"risk factors",
    "1B": r"unresolved staff",
    "1C": r"cyber",
    "2": r"propert",
    "3": r"legal",
    "4": r"mine safety|submission of matters|reserved|removed",
    "5": r"market for",
    "6": r"selected|reserved|removed",
    "7": r"management['’]?s discussion",
    "7A": r"quantitative",
    "8": r"(?:consolidated )?financial statements",
    "9": r"changes in|disagreements",
    "9A": r"controls",
    "9B": r"other information",
    "9C": r"disclosure regarding foreign",
    "10": r"directors",
    "11": r"executive comp",
    "12": r"security ownership",
    "13": r"certain relation",
    "14": r"principal account|controls",
    "15": r"exhibit",
    "16": r"form 10-k summary|summary",
}
_TITLES_10Q: dict[str, str] = {
    "P1-1": r"(?:unaudited |condensed |consolidated ){0,4}+financial statements|financial information",
    "P1-2": r"management['’]?s discussion",
    "P1-3": r"quantitative",
    "P1-4": r"controls",
    "P2-1": r"legal",
    "P2-1A": r"risk factors",
    "P2-2": r"unregistered|changes in securities|issuer purchases|repurchase|purchases of",
    "P2-3": r"defaults",
    "P2-4": r"mine safety|submission|reserved|removed",
    "P2-5": r"other information",
    "P2-6": r"exhibits",
}
_STATEMENTS_FIRST = re.compile(
    r"item\s++1\s*+(?:[.:]\s*+)?(?:unaudited |condensed |consolidated )*financial statements"
)
_TITLES = _TITLES_10K | _TITLES_10Q
_RANKS = {item: rank for titles in (_TITLES_10K, _TITLES_10Q) for rank, item in enumerate(titles)}
"""The place of each Item in its form."""
_AUDIT = re.compile(
    r"report of independent registered|reports? of independent (?:public )?(?:accountants|auditors)|"
    r"index to (?:the )?consolidated financial statements",
    re.IGNORECASE,
)

CROWDED_ITEMS = 6
CROWDED_CHARACTERS = 260
"""A page with this many Items, and fewer characters between them, is a list of Items."""
AUDIT_REACH = 6
"""Maximum number of pages between the auditor's reports and the statements."""
CANDIDATES_PER_PAGE = 12
HEADINGS_PER_PAGE = 500
"""Headings read on one page; a page with this many is a list of Items."""
_TITLED, _BARE = 3.0, 1.0
"""Weights of a heading with and without the Item's title."""
REPEATED = 0.05
"""Share of its weight with which a repeated heading counts."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line that may start ``item``."""

    page: int
    start: int
    item: str
    weight: float


def label_items(texts: Sequence[str], statements: Sequence[Statement | None] | None = None) -> list[str | None]:
    """The SEC Item that covers most of each page; None before the first Item and in documents without Items.

    ``len(result) == len(texts)``. Statements after the last Item (the "F-pages") belong to Item "8". ``statements`` is
    the result of ``label_statements(texts)``, if the caller has it.
    """
    quarterly = _is_quarterly(texts)
    chain = _heaviest_chain(_candidates(texts, quarterly))
    if sum(c.weight for c in chain) < 2 * _TITLED:
        return _current_report_items(texts)
    labels = _spread(texts, chain)
    stated = label_statements(texts) if statements is None else statements
    return _financial_pages_elsewhere(texts, stated, labels, chain, "P1-1" if quarterly else "8")


def _is_quarterly(texts: Sequence[str]) -> bool:
    """Whether this is a Form 10-Q: its cover has "quarterly report", and its Item 1 is "Financial Statements"."""
    head = "\n".join(texts[:4]).lower()
    quarterly = len(re.findall(r"form\s+10-?q|quarterly\s+report\s+pursuant|quarterly\s+period\s+ended", head))
    annual = len(re.findall(r"form\s+10-?k|annual\s+report\s+pursuant|fiscal\s+year\s+ended", head))
    if quarterly == annual:
        start = "\n".join(texts[:12]).lower()
        return _STATEMENTS_FIRST.search(start) is not None
    return quarterly > annual


def _candidates(texts: Sequence[str], quarterly: bool) -> list[_Candidate]:
    found: list[_Candidate] = []
    part = 1
    for page, text in enumerate(texts):
        if "tem" not in text and "TEM" not in text:
            continue
        on_page: list[_Candidate] = []
        parts = [(m.start(), 2 if m["part"].lower() == "ii" else 1) for m in _PART.finditer(text)] if quarterly else []
        for match in islice(_HEADING.finditer(text), HEADINGS_PER_PAGE):
            item = re.sub(r"[\s()]", "", match["item"]).upper()
            if quarterly:
                if before := bisect_left(parts, (match.start(), 0)):
                    part = parts[before - 1][1]
                part = _part_with(item, _title_of(match)) or part
                item = f"P{part}-{item}"
            if item in _TITLES and (weight := _weight(match, item)):
                on_page.append(_Candidate(page, match.start(), item, weight))
        if parts:
            part = parts[-1][1]
        if not _lists_items(on_page, len(text)):
            found.extend(on_page[:CANDIDATES_PER_PAGE])
    return found


def _title_of(match: re.Match[str]) -> str:
    """The text after "Item 7." in a match of ``_HEADING``."""
    return match["rest"].lstrip(" \t.:|—–-•\xa0\n")


def _part_with(number: str, title: str) -> int | None:
    """The part of Form 10-Q whose Item ``number`` has this ``title``."""
    for part in (1, 2):
        pattern = _TITLES.get(f"P{part}-{number}")
        if pattern and re.match(pattern, title, re.IGNORECASE):
            return part
    return None


def _weight(match: re.Match[str], item: str) -> float:
    """How likely ``match`` starts ``item``; 0 if it cites the Item."""
    titled = re.match(r"[^a-z\n]{0,3}(?:" + _TITLES[item] + ")", _title_of(match), re.IGNORECASE) is not None
    first_line = match["rest"].split("\n", 1)[0]
    if not titled and (_CITED.match(first_line.strip(" \t.:")) or len(first_line.strip()) > 25):
        return 0.0
    weight = _TITLED if titled else _BARE
    if first_line.rstrip().endswith((",", "”", '"', ";")):
        weight *= 0.4  # a citation that happens to start a line
    return weight


def _lists_items(on_page: Sequence[_Candidate], length: int) -> bool:
    """Whether a page of ``length`` characters is a list of Items, from its candidates."""
    distinct = {c.item for c in on_page}
    if len(distinct) < CROWDED_ITEMS:
        return False
    gaps = sorted(b.start - a.start for a, b in pairwise(on_page))
    return gaps[len(gaps) // 2] < CROWDED_CHARACTERS or length < CROWDED_CHARACTERS * len(distinct)


def _heaviest_chain(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The non-decreasing chain of greatest weight, in O(n * ranks)."""
    best_by_rank: dict[int, tuple[float, int]] = {}
    previous: list[int] = []
    for index, candidate in enumerate(candidates):
        own_rank = _RANKS[candidate.item]
        # The first heading of an Item counts in full; running headers that repeat it hardly count.
        total, before = max(
            [
                (candidate.weight, -1),
                *(
                    (value + candidate.weight * (REPEATED if rank == own_rank else 1.0), last)
                    for rank, (value, last) in best_by_rank.items()
                    if rank <= own_rank
                ),
            ]
        )
        previous.append(before)
        if total > best_by_rank.get(own_rank, (0.0, -1))[0]:
            best_by_rank[own_rank] = (total, index)
    if not best_by_rank:
        return []
    _, index = max(best_by_rank.values())
    chain = []
    while index >= 0:
        chain.append(candidates[index])
        index = previous[index]
    return chain[::-1]


def _spread(texts: Sequence[str], chain: Sequence[_Candidate]) -> list[str | None]:
    """The Item that covers most characters of each page."""
    labels: list[str | None] = []
    keys = [(c.page, c.start) for c in chain]
    for page, text in enumerate(texts):
        first = bisect_right(keys, (page, -1))
        inside = [c for c in chain[first : first + CANDIDATES_PER_PAGE] if c.page == page]
        current = chain[first - 1].item if first else None
        covered: dict[str | None, int] = {}
        position = 0
        for candidate in inside:
            covered[current] = covered.get(current, 0) + candidate.start - position
            position, current = candidate.start, candidate.item
        covered[current] = covered.get(current, 0) + len(text) - position
        labels.append(max(covered, key=lambda item: covered[item]))
    return labels


def _financial_pages_elsewhere(
    texts: Sequence[str],
    stated: Sequence[Statement | None],
    labels: list[str | None],
    chain: Sequence[_Candidate],
    item: str,
) -> list[str | None]:
    """``labels`` with the pages of the statements moved to ``item``, if none of them has it.

    Many filings print only a reference in that Item, and the statements at the end ("F-1") or inside Item 7.
    """
    statements = [page for page, statement in enumerate(stated) if statement]
    if not statements or any(labels[page] == item for page in statements):
        return labels
    first = statements[0]
    audited = [page for page in range(max(first - AUDIT_REACH, 0), first) if _AUDIT.search(texts[page][:600])]
    start = audited[0] if audited else first
    end = next((c.page for c in chain if c.page > statements[-1]), len(texts))
    return [*labels[:start], *([item] * (end - start)), *labels[end:]]


def _current_report_items(texts: Sequence[str]) -> list[str | None]:
    """The Items of a Form 8-K ("Item 2.02 Results of Operations"). An exhibit keeps the last one before it."""
    labels: list[str | None] = []
    current: str | None = None
    for text in texts:
        found = [m["item"] for m in _HEADING.finditer(text) if "." in m["item"]]
        labels.append(found[0] if found else current)
        current = found[-1] if found else current
    return labels

"""Finds the pages of a filing that print its primary financial statements.

Regulation S-X (Articles 3 and 10) requires the same statements of every registrant, printed one after another: income,
comprehensive income, balance sheet, cash flows, changes in equity. Similar pages occur elsewhere: selected data, the
discussion of results, segment notes, parent-only and guarantor schedules. So a page is scored by its title and the line
items that start its lines, then by its neighbors: only the primary statements have all kinds close together.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from finray.core.data_files import shipped
from finray.core.filing import Statement
from finray.core.vocabulary import MONTH
from finray.filings.tables.registrants import Places, registrants_of

KINDS: tuple[Statement, ...] = ("income", "balance", "cash_flow", "comprehensive_income", "equity")
TABLE_KINDS: tuple[Statement, ...] = ("income", "balance", "cash_flow", "comprehensive_income")
MAIN_KINDS: tuple[Statement, ...] = ("income", "balance", "cash_flow")

WINDOW = 14
"""Maximum number of pages of one set of statements."""
MIN_NUMBERS = 14
"""A page with fewer numbers does not print a statement."""
TITLE_SCORE, MAX_ITEM_SCORE, MIN_ITEM_SCORE = 6.0, 7.0, 1.5
"""A title is worth six line items; more than seven add nothing, and fewer than 1.5 do not count at all."""
CONVINCING = 4.0
"""Score of a page that prints a statement."""
CONTINUED = 3.0
"""Score of a page on which a statement continues."""
ALONE = 8.5
"""Score that a statement needs if no other is near; some releases print only an income statement."""
LOOK_ALIKE = 0.5
"""Weight of pages with titles such as "selected financial data"."""
MAX_WORDS_PER_NUMBER = 16.0
"""Statements have 2 to 9 words per number, discussions 15 and more."""
MAX_LINE = 160
"""Characters; a longer line is neither a title nor a line item."""
MAX_LINES = 5_000
"""Lines read of a page; printed ones have hundreds."""
MAX_BEFORE_TITLE = 60
"""Characters before a title in its line, except for the name of the company."""
INDEX_TITLES = 4
"""A page that names this many kinds of statements is their index."""
INTERIM = 0.85
"""Weight of condensed or unaudited statements: a 10-K may print quarters again beside its audited year."""
TITLE_LINES = 14
"""A statement's title is among the first lines of its page (company, title, scale, period)."""

# The digit stands before its lookbehind because searching for a class of characters is fast.
_NUMBER = re.compile(r"\d(?<![\w.]\d)[\d,]*(?:\.\d+)?\)?(?![\w])")
_LETTERS = bytes(ord("a") if chr(byte).isalpha() and byte < 128 else ord(" ") for byte in range(256))
"""Maps ASCII letters to "a" and other bytes to a space."""

_RULES = shipped("finray.filings.tables", "statement_lines.toml")
_LINES = tomllib.loads(_RULES.replace("MONTH", MONTH))["lines"]
_WEIGHTS: tuple[Mapping[Statement, float], ...] = tuple(
    {kind: line[kind] for kind in KINDS if kind in line} for line in _LINES
)
_MARKER = re.compile("|".join(f"(?P<m{number}>{line['pattern']})" for number, line in enumerate(_LINES)))

_STATEMENT_OF = r"(?:statements? of|statements? on)(?: changes in| the)?(?: consolidated| condensed){0,4}+"
_TITLES: tuple[tuple[Statement, str], ...] = (
    (
        "comprehensive_income",
        _STATEMENT_OF + r" (?:other )?(?:total )?comprehensive (?:income|loss|earnings|\(loss\))|"
        r"comprehensive (?:income|loss|earnings)(?: \(loss\))? statements?|comprehensive \(loss\)",
    ),
    (
        "income",
        _STATEMENT_OF + r" (?:net )?(?:income|operations|earnings|profit|loss|results|\(loss\)|"
        r"operating results)|"
        r"(?:income|earnings|operations) statements?|results of operations|profit and loss accounts?",
    ),
    ("balance", r"balance sheets?|" + _STATEMENT_OF + r" (?:financial (?:position|condition)|condition|assets)"),
    ("cash_flow", _STATEMENT_OF + r" cash ?flows?|cash ?flows? statements?"),
    (
        "equity",
        _STATEMENT_OF + r".{0,60}(?:equity|deficit|capital|investment|retained earnings|redeemable)|"
        r"(?:stock|share)(?:holders|owners)['’]? ?(?:equity|investment) statements?|equity statements?",
    ),
)
_TITLE = tuple((kind, re.compile(pattern)) for kind, pattern in _TITLES)
_SQUEEZED_TITLE = tuple((kind, re.compile(pattern.replace(" ?", "").replace(" ", ""))) for kind, pattern in _TITLES)
_TITLE_HINT = re.compile(r"statement|balancesheet|cashflow|resultsofoperations|comprehensive")
# A reference inside a sentence is not a title.
_NOT_A_TITLE = re.compile(
    r"\b(notes? to|see|the accompanying|accompanying|these|our|refer|included|impact|analysis|selected|index|"
    r"discussion|reconciliation|affected|parent|registrant|consolidating|pro ?forma|data|off.balance|summary|"
    r"summarized|average|review|report|reports|caption|line item|location|classification|within|reflected|recorded|"
    r"recognized|presented|following|which|that|are|is|was|were|for (?:more|further|additional)|"
    r"management['’]s|non-gaap|adjusted|supplemental|segment|schedule)\b|[.;]$|\.{3}|\bpage\b"
)
_LOOK_ALIKE = re.compile(
    r"selected (?:consolidated )?(?:historical )?financial|five.year|six.year|ten.year|eleven.year|pro forma|"
    r"schedule i\b|quarterly financial (?:data|information)|unaudited quarterly|non-gaap|results as a percent"
)
_PARENT_ONLY = re.compile(
    r"parent company|\bparent.only|registrant only|consolidating|guarantor|condensed financial information of|"
    r"^schedule ii?\b.{0,40}condensed",
    re.MULTILINE,
)
_PARENT_WORDS = ("parent", "registrant only", "consolidating", "guarantor", "condensed")
"""Each match of ``_PARENT_ONLY`` has one of them."""
_INTERIM = re.compile(r"\bcondensed\b|\bunaudited\b")
_COMPANY = re.compile(r"\b(inc|corp|corporation|company|co|plc|ltd|llc|l\.p|n\.v|subsidiaries|group|holdings)\b")


@dataclass(frozen=True, slots=True)
class _Evidence:
    scores: Mapping[Statement, float]
    titles: Mapping[Statement, float]


_NOTHING = _Evidence({}, {})


def label_statements(texts: Sequence[str]) -> list[Statement | None]:
    """The primary statement on each page, or None; ``len(result) == len(texts)``.

    A statement on two pages labels both. A page with income and comprehensive income is "income". A combined report of
    several registrants has a set of statements for each.
    """
    keys = [places[0][1].key if places else None for places in page_registrants(texts)]
    groups = [key for key in dict.fromkeys(keys) if key is not None]
    if len(groups) < 2:
        return _label_one_set(texts)
    labels: list[Statement | None] = [None] * len(texts)
    for first, key in enumerate(groups):
        own = [text if own == key or (own is None and not first) else "" for text, own in zip(texts, keys, strict=True)]
        labels = [label or further for label, further in zip(labels, _label_one_set(own), strict=True)]
    return labels


def page_registrants(texts: Sequence[str]) -> list[Places]:
    """The registrants whose statements each page prints in a combined report; none on other pages and in others."""
    return _page_registrants(tuple(texts))


@lru_cache(maxsize=1)  # statements and line items of one filing ask for the same
def _page_registrants(texts: tuple[str, ...]) -> list[Places]:
    return registrants_of(texts, lambda line: title_kind(line) is not None, _may_have_title)


def _may_have_title(text: str) -> bool:
    """A quick look at a page: most have no title of a statement."""
    squeezed = text.lower().replace(" ", "").replace("\xa0", "").replace("\t", "")
    return _TITLE_HINT.search(squeezed) is not None


def _label_one_set(texts: Sequence[str]) -> list[Statement | None]:
    """The primary statement on each page, of one registrant."""
    evidence = [_page_evidence(text) for text in texts]
    labels: list[Statement | None] = [None] * len(texts)
    start = _best_window(evidence)
    if start is None:
        return labels
    window = range(start, min(start + WINDOW, len(texts)))
    anchors = _anchor_pages(evidence, window)
    for kind, anchor in anchors.items():
        labels[anchor] = kind
    for kind, anchor in anchors.items():
        for step in (+1, -1):
            _extend(labels, evidence, window, kind, anchor, step)
    return labels


def _page_evidence(text: str) -> _Evidence:
    numbers = len(_NUMBER.findall(text))
    if numbers < MIN_NUMBERS or _count_words(text) > MAX_WORDS_PER_NUMBER * numbers:
        return _NOTHING
    lines = [line for raw in text.lower().split("\n") if (line := " ".join(raw.split()))][:MAX_LINES]
    scores, titles = _item_scores(lines), _page_titles(lines)
    if len(titles) >= INDEX_TITLES:
        return _NOTHING
    head = "\n".join(lines[:TITLE_LINES])
    if any(word in head for word in _PARENT_WORDS) and _PARENT_ONLY.search(
        head
    ):  # Regulation S-X 5-04, Schedule I, and guarantor columns
        return _NOTHING
    interim = ("condensed" in head or "unaudited" in head) and _INTERIM.search(head)
    weight = LOOK_ALIKE if _LOOK_ALIKE.search(head) else INTERIM if interim else 1.0
    return _Evidence(
        {
            kind: weight * (min(score, MAX_ITEM_SCORE) + TITLE_SCORE * titles.get(kind, 0.0))
            for kind, score in scores.items()
            if score >= MIN_ITEM_SCORE
        },
        titles,
    )


def _count_words(text: str) -> int:
    """The number of runs of two or more ASCII letters. Counting bytes takes a fifth of the time of a pattern."""
    runs = text.encode("ascii", "replace").translate(_LETTERS).split()
    return len(runs) - runs.count(b"a")


def _item_scores(lines: Sequence[str]) -> dict[Statement, float]:
    """The score of each kind of statement from line items, each counted once; ``lines`` are lower case."""
    seen: set[str] = set()
    scores: dict[Statement, float] = {}
    for line in lines:
        if not line.islower() or len(line) > MAX_LINE:  # most lines from PDF are figures
            continue
        name = _marker(line)
        if name is None or name in seen:
            continue
        seen.add(name)
        for kind, weight in _WEIGHTS[int(name[1:])].items():
            scores[kind] = scores.get(kind, 0.0) + weight
    return scores


@lru_cache(maxsize=8192)  # a third of the lines recur, in this filing or the next
def _marker(line: str) -> str | None:
    """The name of the group of ``_MARKER`` that ``line`` begins with, if any."""
    match = _MARKER.match(line)
    return match.lastgroup if match else None


def table_statement(labels: Sequence[str], page_statement: Statement) -> Statement:
    """The statement that one of several tables on a page prints, from the labels of its rows.

    It is ``page_statement``, the page's, unless another fits clearly better.
    """
    lines = [" ".join(label.lower().split()) for label in labels]
    scores = _item_scores(lines)
    best = max(TABLE_KINDS, key=lambda kind: scores.get(kind, 0.0))
    clear = scores.get(best, 0.0) >= CONVINCING and scores[best] > scores.get(page_statement, 0.0) + MIN_ITEM_SCORE
    return best if clear else page_statement


def _page_titles(lines: Sequence[str]) -> dict[Statement, float]:
    """The weight of each kind of statement named in a title: 1 among the first lines, 0.5 further down."""
    titles: dict[Statement, float] = {}
    for position, line in enumerate(lines):
        kind = title_kind(line)
        if kind is None:
            continue
        weight = 1.0 if position < TITLE_LINES else 0.5
        if any(value >= weight for value in titles.values()):
            weight *= 0.6  # the first title counts most
        titles[kind] = max(titles.get(kind, 0.0), weight)
    return titles


def title_kind(line: str) -> Statement | None:
    """The kind of statement that ``line`` is a title of, if any."""
    if len(line) > MAX_LINE or not line.islower():
        return None
    squeezed = line.replace(" ", "")  # some PDFs break titles: "Consolidated Statem ents of Income"
    if not _TITLE_HINT.search(squeezed) or _NOT_A_TITLE.search(line):
        return None
    return _named_kind(line, _TITLE) or _named_kind(squeezed, _SQUEEZED_TITLE)


def _named_kind(line: str, titles: Sequence[tuple[Statement, re.Pattern[str]]]) -> Statement | None:
    found = [
        (match.start(), order, kind) for order, (kind, pattern) in enumerate(titles) if (match := pattern.search(line))
    ]
    if not found:
        return None
    if len(found) > 1 and any(kind == "income" for *_, kind in found):
        return "income"  # "Statements of Operations and Comprehensive Loss"
    start, _, kind = min(found)
    before = line[:start].strip()
    return None if len(before) > MAX_BEFORE_TITLE and not _COMPANY.search(before) else kind


def _best_window(evidence: Sequence[_Evidence]) -> int | None:
    """First page of the window with the best set of statements."""
    best, best_value = None, (False, 0.0)
    for start, first in enumerate(evidence):
        if not first.scores:
            continue
        value, found = 0.0, 0
        for kind in KINDS:
            top = max((page.scores.get(kind, 0.0) for page in evidence[start : start + WINDOW]), default=0.0)
            if top >= CONVINCING:
                value += top if kind in MAIN_KINDS else 0.4 * top
                found += kind in MAIN_KINDS
        if (found >= 2 or value >= ALONE) and (found >= 2, value) > best_value:
            best, best_value = start, (found >= 2, value)
    return best


def _anchor_pages(evidence: Sequence[_Evidence], window: range) -> dict[Statement, int]:
    """The best page for each kind, in descending order of score; a page has only one kind."""
    ranked = sorted(
        (
            (score, -page, kind)
            for page in window
            for kind, score in evidence[page].scores.items()
            if score >= CONVINCING
        ),
        reverse=True,
    )
    anchors: dict[Statement, int] = {}
    for _, negative, kind in ranked:
        page = -negative
        if kind in anchors or page in anchors.values():
            continue
        if kind not in MAIN_KINDS and evidence[page].titles.get(kind, 0.0) == 0.0:
            continue
        anchors[kind] = page
    return anchors


def _extend(
    labels: list[Statement | None],
    evidence: Sequence[_Evidence],
    window: range,
    kind: Statement,
    anchor: int,
    step: int,
) -> None:
    """Label the pages on which a statement continues, until a page scores too low or fits another kind better."""
    page = anchor + step
    while page in window and labels[page] is None:
        scores, titles = evidence[page].scores, evidence[page].titles
        own = scores.get(kind, 0.0)
        if own < CONTINUED or own < max(scores.values()) or (titles and kind not in titles):
            return
        if step < 0 and kind not in titles:
            return
        labels[page] = kind
        page += step

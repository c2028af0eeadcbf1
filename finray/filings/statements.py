"""Which pages of a filing print its primary financial statements.

Regulation S-X (Articles 3 and 10) requires the same statements of every registrant, printed one after another: income,
comprehensive income, balance sheet, cash flows, changes in equity. Similar pages occur elsewhere: selected data, the
discussion of results, segment notes, parent-only and guarantor schedules. So a page is scored by its title and the line
items that start its lines, and then by its neighbors: only the statements have all kinds close together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from finray.core.types import Statement
from finray.core.vocabulary import MONTH

KINDS: tuple[Statement, ...] = ("income", "balance", "cash_flow", "comprehensive_income", "equity")
TABLE_KINDS: tuple[Statement, ...] = ("income", "balance", "cash_flow", "comprehensive_income")
MAIN_KINDS: tuple[Statement, ...] = ("income", "balance", "cash_flow")

WINDOW = 14
"""Maximum number of pages of one set of statements."""
MIN_NUMBERS = 14
TITLE_SCORE, MAX_ITEM_SCORE, MIN_ITEM_SCORE = 6.0, 7.0, 1.5
"""A title is worth six line items; more than seven add nothing, and fewer than 1.5 do not count at all."""
CONVINCING = 4.0
ALONE = 8.5
"""Score that a statement needs if no other is near it; some releases print only an income statement."""
LOOK_ALIKE = 0.5
MAX_WORDS_PER_NUMBER = 16.0
"""Statements have 2 to 9 words per number, discussions 15 and more."""
MAX_LINE = 160
MAX_LINES = 5_000
"""Lines read of a page; printed ones have hundreds."""
MAX_BEFORE_TITLE = 60
INDEX_TITLES = 4
"""A page that names so many kinds of statements is their index."""
INTERIM = 0.85
"""Weight of condensed or unaudited statements: a 10-K may print quarters again beside its audited year."""
TITLE_LINES = 14
"""A statement's title is among the first lines of its page (company, title, scale, period)."""

_NUMBER = re.compile(r"(?<![\w.])\(?\$?\s?\d[\d,]*(?:\.\d+)?\)?(?![\w])")
_WORD = re.compile(r"[A-Za-z]{2,}")

# The start of a table's line, and its weight for each kind of statement.
_MARKERS: tuple[tuple[str, Mapping[Statement, float]], ...] = (
    # income
    (r"(total |net )*(revenues?|sales)\b(?!.*(marketable|maturities|property|securities))", {"income": 1}),
    (r"(total )?costs? of (revenues?|sales|goods|products?|services)", {"income": 1}),
    (r"gross (profit|margin)", {"income": 1}),
    (
        r"(selling|marketing)\b.{0,30}(administrative|expenses?)|general and administrative|research and development",
        {"income": 1},
    ),
    (
        r"(operating (income|profit|loss|earnings)|(income|earnings|profit|loss|\(loss\)).{0,20} from operations)",
        {"income": 1},
    ),
    (
        r"(total )?(costs and expenses|operating expenses|operating costs and expenses|noninterest expense|"
        r"expenses)\b",
        {"income": 0.7},
    ),
    (r"(total )?(net )?interest (and other )?(income|expense)|non-?interest (income|revenue)", {"income": 0.7}),
    (r"(income|earnings|loss|\(loss\)|profit).{0,60}before.{0,40}(tax|equity)", {"income": 1}),
    (
        r"(provision|benefit|\(?provision\)?|\(?benefit\)?).{0,30}(for|from).{0,20}taxes|income tax(es)?( expense|"
        r" provision| \(?benefit| \()|(provision for )?(taxes on income|income taxes)\b",
        {"income": 0.8},
    ),
    (
        r"net (income|earnings|loss|\(loss\)).{0,60}per\b|(basic|diluted)\b.{0,60}(per|share|$)|"
        r"(earnings|income|loss|\(loss\)).{0,25}per .{0,20}share|per share",
        {"income": 1.3},
    ),
    (r"(weighted.average|average|shares used|common shares outstanding|shares outstanding).{0,60}", {"income": 0.8}),
    (
        r"(consolidated )?net (income|earnings|loss|\(loss\))\b(?!.*(activit|cash))|profit (for|of)",
        {"income": 0.7, "comprehensive_income": 0.5, "cash_flow": 0.4, "equity": 0.4},
    ),
    # balance
    (r"total assets", {"balance": 2}),
    (r"total current assets", {"balance": 1}),
    (r"total (current )?liabilities\b", {"balance": 1}),
    (r"total liabilities(,| and| &).{0,80}(equity|deficit|capital|investment)", {"balance": 1.5}),
    (r"total .{0,60}(equity|deficit|capital)\b", {"balance": 0.8, "equity": 0.3}),
    (
        r"(trade )?accounts (and notes )?(receivable|payable)|(trade )?receivables\b|inventories|inventory\b",
        {"balance": 0.6, "cash_flow": 0.3},
    ),
    (
        r"(property|plant|premises).{0,40}equipment|goodwill|deferred (income )?tax|prepaid|deposits|loans",
        {"balance": 0.6, "cash_flow": 0.1},
    ),
    (
        r"(retained earnings|accumulated deficit|(re)?invested earnings|(additional )?paid.in capital|capital surplus|"
        r"capital in excess|treasury (stock|shares)|common (stock|shares)|ordinary shares|preferred stock)",
        {"balance": 0.7, "equity": 0.5},
    ),
    (r"accumulated other comprehensive", {"balance": 0.7, "equity": 0.4, "comprehensive_income": 0.2}),
    (
        r"(total )?(long.term debt|short.term (debt|borrowings)|current (portion|maturities)|notes payable)",
        {"balance": 0.5},
    ),
    (r"commitments and contingenc", {"balance": 1}),
    (r"cash and (cash equivalents|due from banks)|cash, cash equivalents", {"balance": 0.5, "cash_flow": 0.3}),
    # cash flow
    (
        r"(cash flows? (\w+ )?(from|provided|used|\(used)|net cash|cash (provided|used|generated)|total cash|"
        r"operations\b|operating activities|operating:|cash from).{0,80}",
        {"cash_flow": 1},
    ),
    (r".{0,70}investing activities|investing:?$", {"cash_flow": 1}),
    (r".{0,70}financing activities|financing:?$", {"cash_flow": 1}),
    (r"adjustments to reconcile|reconciliation of net", {"cash_flow": 1.2}),
    (r"(depreciation|amortization)", {"cash_flow": 0.7, "income": 0.3}),
    (r"(stock|share|equity).based compensation|deferred (income )?tax", {"cash_flow": 0.5, "equity": 0.2}),
    (
        r"(purchases?|acquisitions?|additions?|proceeds|repayments?|payments?|issuances?|capital expenditures|"
        r"expenditures|capital spending|investments?)\b",
        {"cash_flow": 0.8, "equity": 0.1},
    ),
    (r"(net )?\(?(increase|decrease|change|\(decrease\)).{0,40} in cash|net change in cash", {"cash_flow": 1.2}),
    (
        r"cash.{0,90}(beginning|end) of (the )?(\w+ )?(year|period|quarter)|"
        r"(balance )?(at )?(the )?(beginning|end) of (the )?(year|period|quarter)",
        {"cash_flow": 1.2, "equity": 0.4},
    ),
    (
        r"effects? of (foreign )?(currency )?exchange|foreign currency effect|exchange rate (effect|change)",
        {"cash_flow": 0.8},
    ),
    (r"supplement|cash paid|interest paid|income taxes paid|non-?cash", {"cash_flow": 0.8}),
    # comprehensive income
    (
        r"(total )?(other )?comprehensive (income|loss|earnings|\(loss\))",
        {"comprehensive_income": 1.5, "equity": 0.4, "income": 0.2},
    ),
    (r"(change in )?(net )?(foreign )?(currency )?translation|foreign currency", {"comprehensive_income": 1.2}),
    (r"(change in |net )*(unrealized|unrecognized)|.{0,40}reclassif", {"comprehensive_income": 1}),
    (r".{0,40}(pension|postretirement|retirement|benefit plan|defined benefit)", {"comprehensive_income": 0.7}),
    (r".{0,40}(derivative|cash flow hedg|net investment hedg|available.for.sale)", {"comprehensive_income": 0.7}),
    # equity
    (
        rf"(ending |beginning |opening |closing )?balances?\b.{{0,8}}(at|as of|,|[-–—]|\d|{MONTH}|end|beginning)|"
        r"balances?$",
        {"equity": 1.5},
    ),
    (r"(cash )?dividends?\b.{0,60}(declared|paid|per|\$|\()", {"equity": 0.7, "cash_flow": 0.2, "income": 0.2}),
    (
        r"(common )?(stock|shares?).{0,20}(issued|issuance|repurchase|purchased|retired|plans?|options)|"
        r"(issuance|repurchases?|exercise|retirement|purchases?) of.{0,40}(stock|shares|options)",
        {"equity": 0.8},
    ),
    (r"(cumulative effect|adoption of)", {"equity": 0.6}),
)
_MARKER = re.compile("|".join(f"(?P<m{i}>{pattern})" for i, (pattern, _) in enumerate(_MARKERS)))

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
    r"selected (?:consolidated )?(?:historical )?financial|five.year|(?:six|ten|eleven).year|pro forma|schedule i\b|"
    r"quarterly financial (?:data|information)|unaudited quarterly|non-gaap|results as a percent"
)
_PARENT_ONLY = re.compile(
    r"parent company|\bparent.only|registrant only|consolidating|guarantor|condensed financial information of|"
    r"^schedule ii?\b.{0,40}condensed",
    re.MULTILINE,
)
_INTERIM = re.compile(r"\bcondensed\b|\bunaudited\b")
_COMPANY = re.compile(r"\b(inc|corp|corporation|company|co|plc|ltd|llc|l\.p|n\.v|subsidiaries|group|holdings)\b")


@dataclass(frozen=True, slots=True)
class _Evidence:
    scores: Mapping[Statement, float]
    titles: Mapping[Statement, float]


_NOTHING = _Evidence({}, {})


def label_statements(texts: Sequence[str]) -> list[Statement | None]:
    """The primary statement on each page, if any; ``len(result) == len(texts)``.

    A statement on two pages labels both. A page with income and comprehensive income is "income".
    """
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
        _extend(labels, evidence, window, kind, anchor, +1)
        _extend(labels, evidence, window, kind, anchor, -1)
    return labels


def _page_evidence(text: str) -> _Evidence:
    numbers = len(_NUMBER.findall(text))
    if numbers < MIN_NUMBERS or len(_WORD.findall(text)) > MAX_WORDS_PER_NUMBER * numbers:
        return _NOTHING
    lines = [line for raw in text.lower().split("\n") if (line := " ".join(raw.split()))][:MAX_LINES]
    scores, titles = _item_scores(lines), _page_titles(lines)
    if len(titles) >= INDEX_TITLES:
        return _NOTHING
    head = "\n".join(lines[:TITLE_LINES])
    if _PARENT_ONLY.search(head):  # Regulation S-X 5-04, Schedule I, and guarantor columns
        return _NOTHING
    weight = LOOK_ALIKE if _LOOK_ALIKE.search(head) else INTERIM if _INTERIM.search(head) else 1.0
    return _Evidence(
        {
            kind: weight * (min(score, MAX_ITEM_SCORE) + TITLE_SCORE * titles.get(kind, 0.0))
            for kind, score in scores.items()
            if score >= MIN_ITEM_SCORE
        },
        titles,
    )


def _item_scores(lines: Sequence[str]) -> dict[Statement, float]:
    """The score of each kind from the line items; ``lines`` are lower case."""
    seen: set[str] = set()
    scores: dict[Statement, float] = {}
    for line in lines:
        if len(line) > MAX_LINE or not (match := _MARKER.match(line)) or match.lastgroup in seen:
            continue
        name = match.lastgroup or ""
        seen.add(name)
        for kind, weight in _MARKERS[int(name[1:])][1].items():
            scores[kind] = scores.get(kind, 0.0) + weight
    return scores


def table_statement(labels: Sequence[str], page_statement: Statement) -> Statement:
    """The statement of one of several tables on a page labeled ``page_statement``, from the labels of its rows."""
    lines = [" ".join(label.lower().split()) for label in labels]
    scores = _item_scores(lines)
    best = max(TABLE_KINDS, key=lambda kind: scores.get(kind, 0.0))
    clear = scores.get(best, 0.0) >= CONVINCING and scores[best] > scores.get(page_statement, 0.0) + MIN_ITEM_SCORE
    return best if clear else page_statement


def _page_titles(lines: Sequence[str]) -> dict[Statement, float]:
    """The weight of each kind named in a title: 1 among the first lines, 0.5 further down."""
    titles: dict[Statement, float] = {}
    for position, line in enumerate(lines):
        kind = _title_kind(line)
        if kind is None:
            continue
        weight = 1.0 if position < TITLE_LINES else 0.5
        if any(value >= weight for value in titles.values()):
            weight *= 0.6  # the first title counts most
        titles[kind] = max(titles.get(kind, 0.0), weight)
    return titles


def _title_kind(line: str) -> Statement | None:
    if len(line) > MAX_LINE:
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
    """Labels the pages on which a statement continues, until a page scores too low or fits another kind better."""
    page = anchor + step
    while page in window and labels[page] is None:
        scores, titles = evidence[page].scores, evidence[page].titles
        own = scores.get(kind, 0.0)
        if own < 3.0 or own < max(scores.values()) or (titles and kind not in titles):
            return
        if step < 0 and kind not in titles:
            return
        labels[page] = kind
        page += step

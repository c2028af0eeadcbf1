"""Units of figures in tables outside the statements, where one table mixes amounts, counts, prices, years and rates.

The heading of a column ("Number of Units", "(years)") decides, else the row's label, else the heading over the rows.
Counts and prices do not have the scale of the amounts beside them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, takewhile
from typing import Literal, Self

from finray.core.vocabulary import SCALE, SCALES
from finray.filings.tables.cells import Number, is_year, parse_number
from finray.filings.tables.grids import Cell, Grid
from finray.filings.tables.scales import Scale, ScaledUnit, is_per_share, read_scale, share_scale

_Figures = Sequence[tuple[Cell, Number]]
"""The figures of one row."""
Kind = Literal["price", "shares", "count", "years", "rate", "ratio", "dollars"]
"""What a heading or label counts or measures; "dollars" are amounts in plain dollars."""
MAX_NAMED = 160
"""Characters; a longer text is prose, which does not name a unit."""
MIN_PRICES, PRICE_DECIMALS, MOST_PER_SHARE = 3, 2, 100
"""A column is per share if it has at least this many figures, each with these decimals and below this value."""
MOST_PRICE = 10_000
MANY = 100_000
"""A column that reaches this many shares does not count them in thousands or millions."""
_SECURITY = r"(?:shares?|options?|sars|rsus?|psus?|dsus?|rsas?|adss?|awards?|warrants?|stock units|share units)"
_OF_STOCK = (
    r"(?:(?:common|ordinary|restricted|performance|stock|share|deferred|phantom|class \w|total|vested|treasury)\s)"
)
# Words behind one \b are found in half of the time of words with one each.
_WORDINGS: tuple[tuple[Kind | None, str], ...] = (
    ("dollars", r"\((?:in )?(?:whole |actual )?dollars\)"),
    ("years", r"\((?:in )?years\)|\bin years\b|^\W*age\W*$|\b(?:remaining|contractual|expected|useful|average) "
              r"(?:contractual |lease |amortization |vesting |useful )?(?:term|life|lives)\b"),
    ("shares", r"\b(?:shares (?:used|outstanding)|common shares at (?:period|quarter|year)[- ]end|"
               r"weighted.{0,3}average (?:basic |diluted |common |number of ){0,3}shares|"
               r"dilutive\b.{0,40}\b(?:awards|shares|securities|options))\b"),
    ("price", rf"\b(?:per (?:(?:common |ordinary |capital )?{_SECURITY}|unit)\b|"
              r"(?:exercise|grant|strike|conversion|market|stock|share|average|sales?) prices?\b|"
              r"weighted.{0,3}average (?:grant|fair|price|exercise|issuance|conversion)|price paid\b)|"
              r"^\W*(?:high|low)\W*$"),
    (None, r"\b(?:value\b|intrinsic\b|amounts?\b|dollars?\b|expenses?\b|costs?\b|proceeds\b|revenues?\b|income\b|"
           r"sales\b|principal\b|compensation\b|payments?\b|benefit)|\$"),
    ("shares", rf"\b(?:(?:number|no\.|#) of .{{0,50}}?\b(?:{_SECURITY}|class [abc]|common stock)|number of units|"
               rf"{_SECURITY}\b.{{0,25}}?\b(?:granted|vested|forfeited|exercised|(?:re)?purchased)|"
               rf"(?:granted|vest(?:ed|ing))\W{{1,4}}(?:restricted )?{_SECURITY})\b"),
    ("count", r"\b(?:(?:number|no\.|#) of|unit counts?|square (?:feet|footage|met(?:er|re)s)|sq\.? ?f(?:ee)?t|"
              r"head ?count|population)\b"),
    ("count", rf"\((?:in )?(?:{SCALE}s? (?:of )?)?(?:(?:metric|short|long|net) )?(?:tons|tonnes|barrels|gallons|acres|"
              r"bushels|ounces|bbls?|[km]?boe|[gmk]wh|mmbtu|[mb]cf|cubic (?:feet|met(?:er|re)s)|miles|kilometers)\b"),
    ("rate", r"\b(?:(?:interest|coupon|discount|effective|tax|growth|crediting|return|stated) rates?\b"
             r"(?! (?:swap|differential|adjust|change|contract|lock|risk|deriv|option|cap|agree|effect|hedg))|"
             r"(?!conversion|exchange)\w[\w-]{2,} rates?(?:$|(?= in effect\b))|"
             r"(?:rate of return|yield|volatility)\b)"),
    ("ratio", r"\bratios?\b|\bconversion rate\b"),
)  # fmt: skip
_KINDS = tuple((kind, re.compile(wording, re.IGNORECASE)) for kind, wording in _WORDINGS)
_OUTSTANDING = re.compile(r"\bweighted|\boutstanding\b|\bused\b|\bdilut", re.IGNORECASE)
_BARE: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("shares", re.compile(
        rf"^(?!\W*share\W*$)\W*{_OF_STOCK}{{0,3}}{_SECURITY}\b(?:\W{{0,2}}\(?[a-z\d]\)?)?"
        r"(?: (?:outstanding|granted|issued|purchased|repurchased|exercisable|vested|acquired|withheld))?\W*$", re.I)),
    ("count", re.compile(
        r"^\W*(?:acres|(?:metric )?tons|tonnes|gallons|barrels|volumes?|employees|customers|locations|plants|stores|"
        r"restaurants|clubs|branches|hotels|rooms|vehicles|aircraft|miles|megawatts|mw|units)\W*$|\bnumber\W*$", re.I)),
    ("shares", re.compile(r"\b(?:rsus|psus|awards|units|owned|unvested|issued) shares\W*(?:\(\w\)\W*)*$", re.I)),
)  # fmt: skip
"""Apply to headings of columns only: the label "Stock options" may name an expense."""
_IS_RATIO = re.compile(r"\bratio\W*(?:\([^()]*\)\W*)*$", re.IGNORECASE)
"""Ends what is one ratio; a whole number beside it is in percent: "Overhead ratio | 62"."""
_AWARDS = re.compile(r"\b(?:units|number)\W*(?:\(in \w+\))?$", re.IGNORECASE)
"""Heads the count of options or restricted stock units beside their price."""
_TERMS = re.compile(r"\b(?:over|within|less|due|after|up) \w{0,5} ?\d|\d (?:to|through|-) \d", re.IGNORECASE)
"""Marks amounts by the years until they are due."""
_COUNTED = re.compile(
    r"\bunit counts?\b|\bnumber of\b|\bhead ?count\b|^[^\w\n]{0,8}item\s{1,3}2\W{1,3}(?:description of )?propert",
    re.I | re.M,
)
_SHARES_IN = re.compile(
    rf"\b(?:{_SECURITY}|units)\b"
    r"(?:,? (?:data|amounts|and|activity|are|were|is|which|stated|reflected|presented|shown|in)){0,4}"
    rf",? \(?in (?P<after>{SCALE})s?\b|^[^\w\n]{{0,8}}\(\w\)\s{{0,2}}in (?P<note>{SCALE})s?\b",
    re.IGNORECASE | re.MULTILINE,
)
_IN_SCALE = re.compile(rf"[iI][nN] (?i:{SCALE})")
"""Ends a match of ``_SHARES_IN``. A search for it takes a tenth of the time."""
_SHARES_REACH = 80
"""Characters before it in which the match begins."""
_MONEY_TOO = re.compile(r"(?:\bdollars|\bamounts|\$)\s{0,2}(?:and|,|&)\s{0,2}$", re.IGNORECASE)
"""Comes before the shares in "dollars and shares in thousands"."""
_BEFORE = 16
"""Characters before the shares in which it is looked for."""
_AREA_IN = re.compile(rf"\bsquare (?:feet|footage)\b.{{0,40}}?\bin (?P<after>{SCALE})s\b", re.IGNORECASE)
MIN_LISTED = 4
"""Fewer ascending integers may be figures by chance."""
_PAGE = re.compile(r"\bpages?\b|\bcontents\b", re.IGNORECASE)
_UNITS = re.compile(r"\W*units\W*$", re.IGNORECASE)
_AREA = re.compile(r"\bsquare (?:feet|footage)\W*+$", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_EXCEPT = re.compile(r"\bexcept\b.{0,60}?\bper\b.{0,30}", re.IGNORECASE)
_IN = re.compile(rf"\((?:amounts )?(?:in )?(?P<word>{SCALE})s?(?: (?:of )?[a-z][a-z ]{{2,30}})?\)", re.IGNORECASE)


_PRICED = re.compile(
    r"\bper (?:common |ordinary |diluted |basic )?(?:share|unit|ads|adr|option|award|right)\b|"
    r"\bprices?\b(?! alloc)|\beps\b|"
    r"\b(?:grant|measurement)[- ]{0,2}date fair value|"
    r"\bfair value (?:of|per) (?:each |an? )?(?:stock |share )?options?\b|"
    r"\baverage fair value\b|\bassuming dilution\b",
    re.IGNORECASE,
)
"""Speaks of what one share costs or earns."""
_COMPARED = re.compile(r"\b(?:change|variance|growth|increase|decrease|incr|decr)\b", re.IGNORECASE)
_RATIO = re.compile(
    r"%|\brati|\brates?\b|\breturn|\byield|\bpercent|\bmargin|\bgrowth|\bvolatil|\byears?\b|\bterm\b", re.I
)


@lru_cache(maxsize=8192)  # called for each figure
def _is_priced(text: str) -> bool:
    return _PRICED.search(text) is not None


@lru_cache(maxsize=8192)
def _is_ratio(text: str) -> bool:
    return _RATIO.search(text) is not None


@lru_cache(maxsize=8192)  # called for each cell of a column
def kind_of(text: str, *, heading: bool = False) -> Kind | None:
    """What a label, or the ``heading`` of a column, names; None for amounts of money and everything else."""
    if not text or len(text) > MAX_NAMED:
        return None
    text = _EXCEPT.sub("", text)
    if heading:
        text = _YEAR.sub("", text)  # "Shares 2022"
    kinds = (*_KINDS, *_BARE) if heading else _KINDS
    kind = next((kind for kind, pattern in kinds if pattern.search(text)), None)
    return None if kind == "years" and _TERMS.search(text) else kind


def without_share_scales(text: str) -> str:
    """``text`` without scales of shares only: amounts beside "Shares (in thousands)" may be in millions."""

    kept: list[str] = []
    at = 0
    for match in _share_scales(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        if match["after"] is not None and not _MONEY_TOO.search(before):
            kept += (text[at : match.start()], " ")
            at = match.end()
    return "".join([*kept, text[at:]])


def _share_scales(text: str) -> Iterator[re.Match[str]]:
    """The matches of ``_SHARES_IN``."""
    at = 0
    for scale in _IN_SCALE.finditer(text):
        # The two characters behind are "s" and the one that shows where the word ends.
        match = _SHARES_IN.search(text, max(at, scale.start() - _SHARES_REACH), scale.end() + 2)
        if match is not None:
            yield match
            at = match.end()


@dataclass(frozen=True, slots=True)
class NoteUnits:
    """The units of one table, by the columns of its grid."""

    money: frozenset[int]
    """Columns that print a currency sign."""
    percent: frozenset[int]
    """Columns whose first figure prints "%" and in which no figure can only be an amount."""
    per_share: frozenset[int]
    """Columns with a row per share in which every figure has the decimals of one, as in a reconciliation of diluted to
    adjusted earnings per share."""
    largest: dict[int, float]
    """The largest figure of each column."""
    counts: bool
    """The table counts things: it prints no currency sign, and its title says so."""
    index: bool
    """The table compares returns on 100 dollars."""
    shares_in: int | None
    """The scale of shares that the table or its page gives."""
    counts_shares: bool
    """The table's own title gives the scale of its shares, so a column of whole numbers holds shares."""
    area_in: int | None
    """The scale of square feet that the page gives."""
    scaled: bool
    """The table gives its own scale."""
    cents: frozenset[int]
    """Columns in which every figure has cents."""
    in_cents: frozenset[str]
    """Labels of the rows in which every figure has cents, if other rows have whole numbers."""
    priced: bool
    """A row or a heading speaks of a share's price or earnings."""

    @classmethod
    def of(cls, grid: Grid, page_text: str, head: str, *, announced: bool) -> Self:
        """The units of ``grid``. ``head`` is the top of its page, ``announced`` whether its amounts have a scale."""
        columns: dict[int, list[Number]] = {}
        points: set[int] = set()
        figures = [list(_figures(row)) for row in grid.rows]
        for cell, number in chain.from_iterable(figures):
            columns.setdefault(cell.column, []).append(number)
            if cell.text.endswith("bps"):
                points.add(cell.column)
        money = {column for column, numbers in columns.items() if any(number.currency for number in numbers)}
        first = {column: next((n for n in numbers if not n.dash), None) for column, numbers in columns.items()}
        largest = {column: max(abs(number.value) for number in numbers) for column, numbers in columns.items()}
        percent = {column for column, number in first.items() if number and number.percent and largest[column] < 1000}
        title_rows = list(takewhile(lambda index: not figures[index], range(len(figures))))
        own = (grid.caption, *(" ".join(cell.text for cell in grid.rows[index]) for index in title_rows))
        heads: dict[int, str] = {}
        for cell in chain.from_iterable(grid.rows[index] for index in title_rows):
            heads[cell.column] = f"{heads.get(cell.column, '')} {cell.text}"[:MAX_NAMED]
        title = "\n".join((head, *own))
        return cls(
            money=frozenset(money),
            percent=frozenset(_headed_alike(grid, percent - points, largest) - money - points),
            per_share=_per_share_columns(grid, figures),
            largest=largest,
            counts=not money and not announced and _COUNTED.search(title) is not None,
            index=_is_index(figures),
            shares_in=_stated(_share_scales("\n".join(own))) or _scale_of_shares(page_text),
            counts_shares=any(match["after"] for text in own for match in _share_scales(text)),
            area_in=_scale_of_areas(page_text),
            scaled=any(map(read_scale, own)),
            cents=frozenset(column for column, numbers in columns.items() if _all_cents(numbers)),
            in_cents=_rows_in_cents(grid, figures),
            priced=_is_priced(grid.caption) or any(map(_is_priced, chain(_texts(grid), heads.values()))),
        )

    def unit(
        self, heading: str, label: str, section: str, column: int, number: Number, scale: Scale, own: int | None
    ) -> ScaledUnit | None:
        """The unit of a figure, None if nothing names it. ``own`` is the scale printed over its column."""
        currency = number.currency or scale.currency
        if self.index:
            return (currency, 1) if number.currency or self.money else ("pure", 1)
        for kind, text in self._kinds(heading, label, section, column):
            if found := self._of_kind(kind, text, column, number, scale, own):
                return found
        if column in self.percent and not number.currency:
            return "percent", 1
        if column in self.per_share and not number.percent:
            return f"{currency}/share", 1
        if scale.money >= 1000 and self._is_in_cents(heading, label, section, column, number):
            return f"{currency}/share", 1
        if self.counts_shares and self.shares_in and column not in self.money and not number.decimals:
            return "shares", self.shares_in
        return ("pure", own or 1) if self.counts else None

    def _is_in_cents(self, heading: str, label: str, section: str, column: int, number: Number) -> bool:
        """Whether a figure with cents beside whole numbers is a price or an amount per share."""
        if number.percent or number.decimals != PRICE_DECIMALS or abs(number.value) >= MOST_PRICE:
            return False
        row = label in self.in_cents
        if not (row or column in self.cents) or _is_ratio(label):
            return False
        if any(map(_is_priced, (heading[-MAX_NAMED:], label, section))):
            return True
        return row and self.priced and abs(number.value) < MOST_PER_SHARE

    def _kinds(self, heading: str, label: str, section: str, column: int) -> Iterator[tuple[Kind, str]]:
        """The kinds that the column's heading, the row's label and the heading over the rows name, and that text."""
        kind, of_row = kind_of(heading, heading=True), kind_of(label)
        if kind == "count" and self.priced and _AWARDS.search(heading):
            kind = "shares"
        if kind == "shares" and of_row in ("years", "rate", "price"):
            fits = False  # "Stock options | Expected term, years"
        elif kind == "price":
            fits = self.largest.get(column, 0.0) < 10_000
        elif kind == "count":
            fits = column not in self.money and column not in self.percent  # the growth of volumes
        else:
            fits = column not in self.money or kind == "dollars"
        if kind is not None and fits:
            yield kind, heading
        if of_row is not None:
            yield of_row, label
        if (kind := kind_of(section)) in ("years", "count", "rate"):
            yield kind, section

    def _of_kind(
        self, kind: Kind, text: str, column: int, number: Number, scale: Scale, own: int | None
    ) -> ScaledUnit | None:
        """The unit of a figure of which ``text`` names the kind, None if the figure cannot be one."""
        currency, size = number.currency or scale.currency, abs(number.value)
        if kind == "dollars":
            return currency, 1
        if kind == "price":
            return (f"{currency}/share", 1) if size < 10_000 and (number.decimals or size < 1000) else None
        if number.currency:
            return None
        if kind in ("rate", "ratio"):
            small = size <= 100 if number.decimals else _IS_RATIO.search(text) and size < 1000
            rate = kind == "rate" or column in self.percent or not number.decimals
            return ("percent" if rate else "pure", 1) if small else None
        if kind == "years":
            return ("pure", 1) if size < 200 else None
        if kind == "shares" and number.decimals == PRICE_DECIMALS and column in self.per_share | self.cents:
            return None  # "Effect of dilutive awards | (0.02)" on earnings per share
        stated = own or _stated(_IN.finditer(text))
        if kind == "count" and self.shares_in and _UNITS.match(text):  # restricted stock units
            return "shares", stated or self.shares_in
        if kind == "count":
            return "pure", stated or (self.area_in if _AREA.search(text) else None) or 1
        return "shares", stated or self.shares_in or self._share_scale(text, column, number, scale)

    def _share_scale(self, text: str, column: int, number: Number, scale: Scale) -> int:
        if self.largest.get(column, 0.0) >= MANY and (scale.money >= 10**6 or not self.scaled):
            return 1
        moved = _OUTSTANDING.search(text) is None and not number.decimals
        return share_scale(number.value, number.decimals, scale, moved=moved)


def is_contents(grid: Grid) -> bool:
    """Whether a table lists titles with page numbers, or is a numbered list.

    The last column of such a table has small integers in ascending order and no heading other than "Page".
    """
    last = max((cell.column for row in grid.rows for cell in row), default=0)
    first = -1
    pages: list[float] = []
    for index, row in enumerate(grid.rows):
        for cell, number in _figures(row):
            if cell.column != last:
                continue
            if number.value >= 1000 or not cell.text.isdecimal():
                return False
            first = index if first < 0 else first
            pages.append(number.value)
    rows = sum(any(parse_number(cell.text) for cell in row if cell.column) for row in grid.rows)
    if len(pages) < MIN_LISTED or len(pages) < 0.8 * rows or pages != sorted(pages):
        return False
    over = [cell.text for row in grid.rows[:first] for cell in row if cell.column <= last < cell.column + cell.span]
    before = (cell for row in grid.rows for cell in row if 0 < cell.column < last and parse_number(cell.text))
    plain = all(re.fullmatch(r"\(?\d{1,3}(?:\.\d{1,2})?\)?", cell.text) for cell in before)
    return plain and len(set(pages)) > 2 and all(_PAGE.search(text) or len(text) > MAX_NAMED for text in over)


def _figures(row: Sequence[Cell]) -> Iterator[tuple[Cell, Number]]:
    """The numbers of a row that are not years, with their cells."""
    for cell in row:
        if cell.column and (number := parse_number(cell.text)) and not is_year(cell.text):
            yield cell, number


def _headed_alike(grid: Grid, percent: set[int], largest: Mapping[int, float]) -> set[int]:
    """The columns of percentages, and those with the same heading "Change", in which the first "%" may be "NM"."""
    heads: dict[int, str] = {}
    for row in takewhile(lambda row: not any(True for _ in _figures(row)), grid.rows):
        heads |= {cell.column: cell.text for cell in row if cell.column and cell.span == 1}
    alike = {heads[column] for column in percent if _COMPARED.search(heads.get(column, ""))}
    return percent | {column for column, text in heads.items() if text in alike and largest.get(column, 0.0) < 1000}


def _per_share_columns(grid: Grid, figures: Sequence[_Figures]) -> frozenset[int]:
    """The columns with a row that is per share and no figure that cannot be. ``figures`` are those of each row."""
    prices = [[(cell.column, n) for cell, n in row if not n.dash and not n.percent] for row in figures]
    counts = Counter(column for row in prices for column, _ in row)
    unfit = {
        column
        for row in prices
        for column, number in row
        if number.decimals != PRICE_DECIMALS or abs(number.value) >= MOST_PER_SHARE
    }
    fit = {column for column, count in counts.items() if count >= MIN_PRICES} - unfit
    named: set[int] = set()
    for row, priced in zip(grid.rows, prices, strict=True):
        columns = {column for column, _ in priced if column in fit}
        if columns and is_per_share(next((cell.text for cell in row if cell.column == 0), "")):
            named |= columns
    return frozenset(named)


def _all_cents(numbers: Sequence[Number]) -> bool:
    """Whether there are figures, and all have the decimals of prices; those that are zero need not."""
    printed = [number for number in numbers if not number.dash and not number.percent]
    return bool(printed) and all(number.decimals == PRICE_DECIMALS or number.value == 0 for number in printed)


def _rows_in_cents(grid: Grid, figures: Sequence[_Figures]) -> frozenset[str]:
    """The labels of rows in which every figure has cents, if half of the others or more have whole numbers."""
    cents: set[str] = set()
    whole = others = 0
    for row, found in zip(grid.rows, figures, strict=True):
        numbers = [number for _, number in found if not number.percent and not number.dash]
        if _all_cents(numbers):
            cents.add(row[0].text if row[0].column == 0 else "")
        elif numbers:
            others += 1
            whole += all(number.decimals == 0 for number in numbers)
    return frozenset(cents - {""}) if whole and 2 * whole >= others else frozenset()


def _texts(grid: Grid) -> Iterator[str]:
    """The labels and headings of a table, without prose and figures."""
    cells = chain.from_iterable(grid.rows)
    return (cell.text for cell in cells if len(cell.text) <= MAX_NAMED and not cell.text[-1:].isdecimal())


def _is_index(figures: Iterable[_Figures]) -> bool:
    """Whether the first figures of all rows, or all figures of the first row, are 100."""
    rows = [[number for _, number in row] for row in figures if row]
    if len(rows) < 2 or any(len(row) < 2 for row in rows):
        return False
    bases = ([row[0] for row in rows], rows[0])
    return any(all(number.value == 100 and not number.percent for number in base) for base in bases)


@lru_cache(maxsize=64)  # called for each table of a page
def _scale_of_shares(page_text: str) -> int | None:
    return _stated(_share_scales(page_text))


@lru_cache(maxsize=64)
def _scale_of_areas(page_text: str) -> int | None:
    return _stated(_AREA_IN.finditer(page_text)) if "square f" in page_text.lower() else None


def _stated(matches: Iterable[re.Match[str]]) -> int | None:
    """The scale in the named groups of ``matches``, if there is exactly one."""
    found = {word.lower() for match in matches for word in match.groupdict().values() if word}
    return SCALES[found.pop()] if len(found) == 1 else None

"""The line items of a filing that a question may be about: of whom, in which currency, and before or after a
restatement."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from finray.answering.part_names import item_of_part
from finray.core.currencies import CURRENCIES, UNKNOWN
from finray.core.filing import LineItem
from finray.core.query import Query
from finray.index.reading.facts import FilingItems, kept_with
from finray.question.measures.currency import asked_currencies
from finray.retrieval.own_names import printed_name

Version = Literal["restated", "original"]
_ORIGINAL = re.compile(
    r"\b(?:previously|originally|initially|first)[\s-](?:reported|filed|stated|published|issued)\b|"
    r"\b(?:before|prior to)\b.{0,20}\brestatement\b|\bas reported\b",
    re.IGNORECASE,
)
_RESTATED = re.compile(r"\brestate(?:d|ment)\b|\bas (?:corrected|revised)\b", re.IGNORECASE)
_ADJUSTED = re.compile(r"\b(?:adjustments?|effects?|impacts?|corrections?|differences?|changes?|restatements?)\b", re.I)

_MOST_KEPT = 4
"""Selections kept of one filing: most questions name neither a currency nor a version."""

Place = tuple[int, int, int]
"""Page, row and column of a cell."""


def asked_version(question: str) -> Version | None:
    """Whether ``question`` asks for figures as restated or as first reported; None if it leaves that open."""
    if _ORIGINAL.search(question):
        return "original"
    return "restated" if _RESTATED.search(question) else None


def asked_items(query: Query, items: Mapping[str, Sequence[LineItem]]) -> Mapping[str, Sequence[LineItem]]:
    """The line items, by filing, that ``query`` may be about.

    A question about a part of a company is answered by what prints the part's name, or by the part's own statements;
    any other question by none of those that a subsidiary files together with its parent. An amount is in the currency
    that the question asks for, else in that of the filing's statements, not in one that they are translated into.
    """
    currencies, version = asked_currencies(query.question), asked_version(query.question)
    return {filing_id: _asked(query, own, currencies, version) for filing_id, own in items.items()}


def _asked(
    query: Query, items: Sequence[LineItem], currencies: tuple[str, ...], version: Version | None
) -> Sequence[LineItem]:
    kinds = kept_with(items, _Kinds)
    if not query.part_names:
        return kinds.kept(items, currencies, version, kinds.registrant(query.question))
    dropped = kinds.dropped(currencies, version)
    return [item for item in items if item_of_part(query, item) and _place(item) not in dropped]


class _Kinds:
    """What the ``items`` of one filing differ in besides row and period."""

    def __init__(self, items: Sequence[LineItem]) -> None:
        self._of: dict[str | None, set[Place]] = defaultdict(set)
        for item in items:
            self._of[item.registrant].add(_place(item))
        money = [(item, code) for item in items if (code := _currency(item)) is not None]
        stated = Counter(code for item, code in money if item.statement is not None)
        used = stated or Counter(code for _, code in money)
        self._reported = used.most_common(1)[0][0] if used else UNKNOWN
        self._in: dict[str, set[Place]] = defaultdict(set)
        for item, code in money:
            self._in[code].add(_place(item))
        self._translated = self._translations(money) if len(self._in) > 1 else frozenset()
        self._versions = _versions(items)
        self._kept: dict[tuple[object, ...], FilingItems] = {}

    def kept(
        self, items: Sequence[LineItem], currencies: tuple[str, ...], version: Version | None, registrant: str | None
    ) -> Sequence[LineItem]:
        """Those of ``items`` that a question about a ``registrant``, None for the filer, may be about, made once."""
        others = (places for name, places in self._of.items() if name != registrant)
        dropped = self.dropped(currencies, version).union(*others)
        if not dropped:
            return items  # with what is prepared from them
        key = currencies, version, registrant
        if key not in self._kept and len(self._kept) >= _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        if key not in self._kept:
            self._kept[key] = FilingItems(item for item in items if _place(item) not in dropped)
        return self._kept[key]

    def registrant(self, question: str) -> str | None:
        """The registrant with the longest name in ``question``; None if it names none but the filer."""
        named = (name for name in self._of if name is not None and printed_name(name).search(question))
        return max(named, key=len, default=None)

    def dropped(self, currencies: tuple[str, ...], version: Version | None) -> frozenset[Place]:
        """The cells of other currencies and versions than those asked for."""
        return self._other_currencies(currencies) | (self._versions[version] if version is not None else frozenset())

    def _other_currencies(self, asked: tuple[str, ...]) -> frozenset[Place]:
        """The amounts in other currencies than those ``asked`` for; without any, the translated amounts."""
        if not asked:
            return self._translated
        if len(asked) > 1:  # "in dollars": those of the filing's statements, else the U.S. dollar
            asked = (self._reported,) if self._reported in (*asked, UNKNOWN) else asked[:1]
        return frozenset().union(*(places for code, places in self._in.items() if code not in asked))

    def _translations(self, money: Sequence[tuple[LineItem, str]]) -> frozenset[Place]:
        """The amounts whose row prints them for the same period in the reported currency, too."""
        own = {_cell_of_row(item) for item, code in money if code == self._reported}
        return frozenset(_place(item) for item, code in money if code != self._reported and _cell_of_row(item) in own)


def _versions(items: Sequence[LineItem]) -> dict[Version, frozenset[Place]]:
    original, adjusted, others = (defaultdict[tuple[object, ...], set[Place]](set) for _ in range(3))
    for item in items:
        label = item.column_label or ""
        of = original if _ORIGINAL.search(label) else adjusted if _ADJUSTED.search(label) else others
        of[_cell_of_row(item)].add(_place(item))
    restated: set[Place] = set()
    first: set[Place] = set()
    for row, places in original.items():
        first |= adjusted[row] | others[row]
        if others[row]:
            restated |= places | adjusted[row]
    return {"restated": frozenset(restated), "original": frozenset(first)}


def _currency(item: LineItem) -> str | None:
    code = item.unit.removesuffix("/share")
    return code if code in CURRENCIES else None


def _place(item: LineItem) -> Place:
    return item.page, item.row, item.column


def _cell_of_row(item: LineItem) -> tuple[object, ...]:
    return item.page, item.row, item.period_end, item.months

"""Groups the filings of an index by company: by CIK, Commission file number, name and ticker.

Filings with different CIKs are never joined, so two registrants that share a name or a reused ticker stay apart.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from finray.core.filing import UNIDENTIFIED, Filing
from finray.core.sorted_keys import SortedKeys, key_bytes
from finray.question.words import word_list

_SUFFIXES = word_list("legal_suffixes")


def unaccented(text: str) -> str:
    """``text`` with plain letters for accented ones: people and filings write Nestle and Nestlé."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


@lru_cache(maxsize=65_536)  # all filings of a company repeat its name
def core_name(name: str) -> tuple[str, ...]:
    """Lower-case words of a company name without legal suffixes: ("coca", "cola") of "COCA-COLA CO /DE/"."""
    words = re.findall(r"[a-z0-9]+", unaccented(name).lower().replace("&", " ").replace("'", "").replace("’", ""))
    while len(words) > 1 and words[0] == "the":
        words = words[1:]
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words = words[:-1]
    return tuple(words)


@dataclass(frozen=True, slots=True)
class CompanyGroups:
    """``members`` are the filings of each company, newest first; of those with equal facts about it only the newest.
    ``owners`` [n] are the companies of the filings with the ids ``ids``, as positions in ``members``."""

    members: list[list[Filing]]
    ids: SortedKeys
    owners: npt.NDArray[np.int32]


def group_filings(filings: Iterable[Filing]) -> CompanyGroups:
    """``filings`` by company. Of those with equal facts about their company only the newest is kept in memory; of those
    with one id the last counts."""
    numbers: dict[tuple[object, ...], int] = {}
    newest: list[Filing] = []
    of_filing = array("i")

    def ids() -> Iterator[bytes]:
        for filing in filings:
            own = filing.filing_id if filing.company == UNIDENTIFIED else ""
            identity = (filing.cik, filing.commission_file_number, filing.company, filing.ticker, filing.aliases, own)
            number = numbers.setdefault(identity, len(newest))
            if number == len(newest):
                newest.append(filing)
            elif _age(filing) > _age(newest[number]):
                newest[number] = filing
            of_filing.append(number)
            yield key_bytes(filing.filing_id)

    keys, order = _in_order(pa.array(ids(), pa.binary()))
    members: dict[int, list[Filing]] = defaultdict(list)
    roots = _joined(newest)
    for filing, root in zip(newest, roots, strict=True):
        members[root].append(filing)
    companies = {root: number for number, root in enumerate(members)}
    company_of = np.asarray([companies[root] for root in roots], dtype=np.int32)
    owners = company_of[np.asarray(of_filing, dtype=np.int32)[order]]
    return CompanyGroups([sorted(some, key=_age, reverse=True) for some in members.values()], keys, owners)


def _age(filing: Filing) -> tuple[object, ...]:
    """Sorts filings from old to new."""
    return filing.period_end is not None, filing.period_end, filing.filing_id


def _in_order(ids: pa.Array) -> tuple[SortedKeys, npt.NDArray[np.int64]]:
    """The distinct ids in order, and the position of the last occurrence of each."""
    order = pc.sort_indices(ids)  # stable
    ordered = ids.take(order)
    last = np.ones(len(ordered), dtype=np.bool_)
    last[:-1] = pc.not_equal(ordered[:-1], ordered[1:]).to_numpy(zero_copy_only=False)
    return SortedKeys(ordered.filter(pa.array(last))), order.to_numpy()[last].astype(np.int64)


def _joined(filings: Sequence[Filing]) -> list[int]:
    """The number of each filing's group."""
    parent = list(range(len(filings)))
    ciks = [{filing.cik.lstrip("0")} if filing.cik else set() for filing in filings]

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    def join(first: int, second: int) -> None:
        a, b = root(first), root(second)
        if a != b and len(ciks[a] | ciks[b]) <= 1:
            parent[b] = a
            ciks[a] |= ciks[b]

    for identities in zip(*map(_identities, filings), strict=True):
        seen: dict[str, int] = {}
        for index, found in enumerate(identities):
            for identity in found:
                join(seen.setdefault(identity, index), index)
    return [root(index) for index in range(len(filings))]


def _identities(filing: Filing) -> tuple[list[str], list[str], list[str]]:
    """What filings of one company share, the surest first: registrations; name and ticker; name and short names.

    An earnings release often has only a short name: "Amcor" for Amcor plc.
    """
    cik, number, ticker = filing.cik, filing.commission_file_number, filing.ticker
    registrations = [f"cik:{cik.lstrip('0')}"] if cik else []
    registrations += [f"file:{number}"] if number else []
    tickers = [f"ticker:{ticker.upper()}"] if ticker else []
    own = core_name(filing.company) if filing.company != UNIDENTIFIED else ()
    aliases = () if registrations or ticker else map(core_name, filing.aliases)
    names = [f"name:{''.join(core)}" for core in (own, *aliases) if core and own[: len(core)] == core]
    return registrations, [*names[:1], *tickers], names

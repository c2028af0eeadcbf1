"""Cover facts by source, and how sources are merged."""

import dataclasses
import datetime as dt
import re
from collections.abc import Mapping

from finray.core.filing import FactSource, FiscalPeriod

MAX_FACT = 300
"""Characters kept of a header field or tag; EDGAR's own names have at most 150."""


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """Facts from one source (inline XBRL, SGML header, cover text); None if it does not give them.

    ``fiscal_year_end`` is ``MM-DD``, ``transition_from`` the first day of a transition period.
    """

    company: str | None = None
    form: str | None = None
    cik: str | None = None
    ticker: str | None = None
    commission_file_number: str | None = None
    amendment: bool | None = None
    amends: str | None = None
    filed_at: dt.date | None = None
    period_end: dt.date | None = None
    fiscal_year: int | None = None
    fiscal_period: FiscalPeriod | None = None
    fiscal_year_end: str | None = None
    transition_from: dt.date | None = None
    accession_number: str | None = None
    aliases: tuple[str, ...] = ()


_MERGED = tuple(f.name for f in dataclasses.fields(Facts) if f.name != "aliases")


def merge(sources: Mapping[FactSource, Facts]) -> tuple[Facts, dict[str, FactSource]]:
    """Each fact from the best source that has it (``sources`` best first), and that source; aliases are pooled."""
    values: dict[str, object] = {}
    provenance: dict[str, FactSource] = {}
    for source, facts in sources.items():
        for name in _MERGED:
            value = getattr(facts, name)
            if value is not None and name not in values:
                values[name] = value
                provenance[name] = source
    aliases = tuple(dict.fromkeys(alias for facts in sources.values() for alias in facts.aliases))
    return Facts(aliases=aliases, **values), provenance  # type: ignore[arg-type]


def padded_cik(text: str) -> str | None:
    """A CIK as EDGAR prints it, ten digits; None if ``text`` is not one."""
    digits = text.strip()
    if digits.isascii() and digits.isdecimal() and 0 < len(digits) <= 10 and int(digits) > 0:
        return digits.zfill(10)
    return None


# The acts under which registrants of annual and current reports file: 1934 Act (000, 001), 1933 Act (002, 033, 333).
_FILE_NUMBER = re.compile(r"\b(0{0,2}[012]|0?33|333)\s?[-–‑]\s?(\d{3,6})\b")


def file_number(text: str) -> str | None:
    """The first Commission file number in ``text`` as EDGAR prints it ("001-06991"); None if there is none."""
    match = _FILE_NUMBER.search(text)
    return f"{int(match[1]):03d}-{int(match[2]):05d}" if match else None

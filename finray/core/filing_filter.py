"""Which filings of the index a question may draw on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from finray.core.filing import Filing


@dataclass(frozen=True, slots=True)
class FilingFilter:
    """A filing passes if it matches one of the ``companies`` (name, alias, ticker or CIK, case-insensitive), one of the
    ``forms`` and one of the ``fiscal_years``; an empty criterion matches all."""

    companies: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    fiscal_years: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.companies or self.forms or self.fiscal_years)

    def passes(self, filing: Filing) -> bool:
        return self.test()(filing)

    def test(self) -> Callable[[Filing], bool]:
        """A function like ``passes`` for many filings: it prepares the criteria once."""
        years = frozenset(self.fiscal_years)
        forms = frozenset(form.casefold() for form in self.forms)
        companies = frozenset(key for company in self.companies for key in asked_as(company))

        def passes(filing: Filing) -> bool:
            if years and filing.fiscal_year not in years:
                return False
            if forms and filing.form.casefold() not in forms:
                return False
            return not self.companies or not companies.isdisjoint(known_as(filing))

        return passes


def known_as(filing: Filing) -> frozenset[str]:
    """The keys of the company of ``filing``: see :func:`asked_as`."""
    keys = {name.casefold() for name in (filing.company, filing.ticker, *filing.aliases) if name}
    return frozenset(keys if filing.cik is None else keys | {_as_cik(filing.cik)})


def asked_as(company: str) -> tuple[str, ...]:
    """The keys for ``company`` (name, alias, ticker or CIK)."""
    folded = company.strip().casefold()
    return (folded, _as_cik(folded)) if folded.isdecimal() else (folded,)


def _as_cik(number: str) -> str:
    return f"\0{number.lstrip('0')}"  # no name begins with NUL

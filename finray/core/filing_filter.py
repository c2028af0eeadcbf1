"""Which filings of the index a question may draw on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from finray.core.types import Filing


@dataclass(frozen=True, slots=True)
class FilingFilter:
    """A filing passes if it is of one of the ``companies`` (name, alias, ticker or CIK, in any letter case), of one of
    the ``forms`` and of one of the ``fiscal_years``; an empty one lets everything pass."""

    companies: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    fiscal_years: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.companies or self.forms or self.fiscal_years)

    def passes(self, filing: Filing) -> bool:
        return self.test()(filing)

    def test(self) -> Callable[[Filing], bool]:
        """``passes`` for many filings: folds what is asked for once."""
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
    """The keys by which the company of ``filing`` may be asked for: see :func:`asked_as`."""
    names = (filing.company, filing.ticker, *filing.aliases)
    cik = (_as_cik(filing.cik),) if filing.cik is not None else ()
    return frozenset((*(name.casefold() for name in names if name), *cik))


def asked_as(company: str) -> tuple[str, ...]:
    """The keys that a filing of ``company`` (name, alias, ticker or CIK) is known by."""
    folded = company.strip().casefold()
    return (folded, _as_cik(folded)) if folded.isdecimal() else (folded,)


def _as_cik(number: str) -> str:
    return f"\0{number.lstrip('0')}"  # no name begins like that

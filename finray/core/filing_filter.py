"""Which filings a question may be answered from: those of given companies, forms and fiscal years."""

from __future__ import annotations

from dataclasses import dataclass

from finray.core.types import Filing


@dataclass(frozen=True, slots=True)
class FilingFilter:
    """A filing passes when it is of one of the ``companies`` (name, alias, ticker or CIK; letter case does not count),
    of one of the ``forms`` and of one of the ``fiscal_years``; an empty one lets everything pass."""

    companies: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    fiscal_years: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.companies or self.forms or self.fiscal_years)

    def passes(self, filing: Filing) -> bool:
        if self.fiscal_years and filing.fiscal_year not in self.fiscal_years:
            return False
        if self.forms and filing.form.casefold() not in {form.casefold() for form in self.forms}:
            return False
        return not self.companies or any(_is_of(filing, company) for company in self.companies)


def _is_of(filing: Filing, company: str) -> bool:
    wanted = company.strip().casefold()
    names = (filing.company, filing.ticker or "", *filing.aliases)
    if any(wanted == name.casefold() for name in names):
        return True
    return wanted.isdecimal() and filing.cik is not None and wanted.lstrip("0") == filing.cik.lstrip("0")

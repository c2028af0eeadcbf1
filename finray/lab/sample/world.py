"""The whole sample in memory, for questions: companies, books, and the places of printed items."""

from __future__ import annotations

import random
from dataclasses import dataclass

from finray.core.filing import FiscalPeriod
from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import Ledger, Period, Vintage
from finray.lab.sample.printing import PrintedFiling


@dataclass(frozen=True, slots=True)
class World:
    companies: tuple[Company, ...]
    ledgers: dict[str, Ledger]
    filings: tuple[PrintedFiling, ...]
    first_year: int
    last_year: int
    seed: int

    def filing(
        self, company: Company, form: str, year: int, period: FiscalPeriod | None = "FY"
    ) -> PrintedFiling | None:
        for filing in self.filings:
            if (filing.cik, filing.form, filing.fiscal_year, filing.fiscal_period) == (company.cik, form, year, period):
                return filing
        return None

    def annual(self, company: Company, year: int) -> Period:
        """The fiscal year as its own 10-K prints it."""
        return self.ledgers[company.cik].annual(year)

    def quarter(self, company: Company, year: int, quarter: int) -> Period:
        """The quarter as its own 10-Q prints it."""
        return self.ledgers[company.cik].period(year, quarter, Vintage(year), first=quarter)

    def settled(self, company: Company, year: int) -> bool:
        """Whether all filings give the same answer for a year: no restatement or recast affects it."""
        return year != company.restated_year and (company.recast_year is None or year >= company.recast_year)

    def company_year(self, rng: random.Random) -> tuple[Company, int]:
        return rng.choice(self.companies), rng.randint(self.first_year, self.last_year)

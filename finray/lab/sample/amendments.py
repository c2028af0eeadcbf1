"""The 10-K/A: a restatement of Item 8, or Part III information that the proxy statement did not include in time."""

from __future__ import annotations

import datetime as dt
import random

from finray.lab.sample.annual import controls, discussion, exhibits, financial_statements
from finray.lab.sample.blocks import Block, Break, Para, WordTable
from finray.lab.sample.book import Book, item
from finray.lab.sample.calendars import long_date
from finray.lab.sample.companies import person
from finray.lab.sample.cover import periodic_cover
from finray.lab.sample.story import dollars

_RESTATING = (
    "to restate the consolidated financial statements to correct the premature recognition of "
    "revenue in the fourth quarter"
)
_PART_THREE = (
    "solely to provide the information required by Part III, because a definitive proxy statement "
    "will not be filed within 120 days after the end of the fiscal year"
)


def restating_amendment(book: Book, original_filed: dt.date) -> list[Block]:
    misstated = book.ledger.misstatement * book.company.multiplier
    return [
        *periodic_cover(book.draft, book.annual(book.year).closing),
        Para("EXPLANATORY NOTE", "center_bold"),
        Para(_explanation(book, original_filed, _RESTATING), key="amends"),
        Para(
            f"Revenue of {dollars(misstated)} was recognized before customers had accepted delivery. "
            "The previously issued financial statements for that year should no longer be relied upon. "
            "Items 7, 8, 9A and 15 are amended in their entirety; no other Item is amended."
        ),
        Break(),
        *discussion(book),
        *financial_statements(book),
        *controls(book, restated=True),
        *exhibits(book),
        *book.signatures(),
    ]


def part_three_amendment(book: Book, original_filed: dt.date, seed: int) -> list[Block]:
    rng = random.Random(f"{seed}:part3:{book.company.cik}:{book.year}")
    company = book.company
    directors = [(person(rng), str(rng.randint(48, 73)), str(rng.randint(2005, 2020))) for _ in range(6)]
    pay = []
    for name, post in ((company.ceo, "Chief Executive Officer"), (company.cfo, "Chief Financial Officer")):
        salary, stock = rng.randrange(500_000, 1_200_000, 5_000), rng.randrange(800_000, 6_000_000, 1_000)
        pay.append((f"{name}\n{post}", f"{book.year}", f"${salary:,}", f"${stock:,}", f"${salary + stock:,}"))
    fees = [
        (label, f"${rng.randrange(low, high, 1_000):,}")
        for label, low, high in (
            ("Audit fees", 900_000, 6_000_000),
            ("Audit-related fees", 20_000, 300_000),
            ("Tax fees", 50_000, 700_000),
        )
    ]
    return [
        *periodic_cover(book.draft, book.annual(book.year).closing),
        Para("EXPLANATORY NOTE", "center_bold"),
        Para(_explanation(book, original_filed, _PART_THREE), key="amends"),
        Para("Except as described above, this Amendment does not modify or update disclosures in the Original Filing."),
        Para("PART III", "center_bold"),
        item("10", "Directors, Executive Officers and Corporate Governance"),
        WordTable((("Name", "Age", "Director since"), *directors), (0.5, 0.2, 0.3), key="directors", bold_head=True),
        Para(
            "The Board of Directors has determined that each director other than the Chief Executive "
            "Officer is independent under the listing standards of the exchange on which our common stock "
            "is listed."
        ),
        item("11", "Executive Compensation"),
        WordTable(
            (("Name and principal position", "Year", "Salary", "Stock awards", "Total"), *pay),
            (0.36, 0.1, 0.18, 0.18, 0.18),
            key="compensation",
            bold_head=True,
        ),
        item("12", "Security Ownership of Certain Beneficial Owners and Management"),
        Para("All directors and executive officers as a group beneficially owned less than 3% of our common stock."),
        item("13", "Certain Relationships and Related Transactions, and Director Independence"),
        Para("None."),
        item("14", "Principal Accountant Fees and Services"),
        WordTable((("Type of fee", "Amount"), *fees), (0.6, 0.4), key="audit_fees", bold_head=True),
        *exhibits(book),
        *book.signatures(),
    ]


def _explanation(book: Book, original_filed: dt.date, purpose: str) -> str:
    """The sentence that names the amended filing."""
    return (
        "This Amendment No. 1 on Form 10-K/A amends the Annual Report on Form 10-K of "
        f"{book.draft.registrant} for the fiscal year ended {long_date(book.draft.end)}, originally "
        f"filed with the Securities and Exchange Commission on {long_date(original_filed)} (the "
        f"“Original Filing”), {purpose}."
    )

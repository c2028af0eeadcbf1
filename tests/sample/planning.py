"""Plans and page texts, for tests that look at single filings."""

from __future__ import annotations

import re
from html import unescape

import pymupdf

from finray.sample.companies import make_companies
from finray.sample.generate import LAST_YEAR
from finray.sample.ledger import make_ledger
from finray.sample.plan import Plan
from finray.sample.render_html import PAGE_BREAK


def plans_of(*, companies: int, years: int, seed: int, full: bool = False) -> list[Plan]:
    first = LAST_YEAR - years + 1
    return [Plan(company, make_ledger(company, first, years, seed), first, years, seed, full)
            for company in make_companies(companies, first, years, seed)]


def page_texts(content: bytes) -> list[str]:
    """Words of each page, by means that share nothing with the generator; white space is one space."""
    if content.startswith(b"%PDF"):
        with pymupdf.open(stream=content, filetype="pdf") as document:  # type: ignore[no-untyped-call]
            pages = [page.get_text() for page in document]
    else:
        main = content.decode().split("</DOCUMENT>")[0]
        pages = [unescape(re.sub(r"<[^>]+>", " ", page)) for page in main.split(PAGE_BREAK)]
    return [" ".join(page.split()) for page in pages]

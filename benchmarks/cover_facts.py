"""Accuracy of cover facts compared with file names, and parse time compared with plain text extraction.

    python benchmarks/cover_facts.py ../shared/data/financebench/pdfs ../shared/data/edgar/html

Names are COMPANY_FISCALYEAR[Qn]_FORM (FinanceBench) or ticker-10-k-DATE; other files are only parsed. The year of an
8-K is compared with its date of report. Lists each disagreement for review, because names have errors too.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pymupdf as untyped_pymupdf

from finray.core.errors import FilingError
from finray.core.filing import Filing
from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE
from finray.core.settings import FilingSettings
from finray.filings.read import parse_filing

pymupdf: Any = untyped_pymupdf

_FINANCEBENCH = re.compile(
    r"(?P<company>[^_]+)_(?P<year>\d{4})(?P<quarter>Q\d)?_(?P<form>10K|10Q|8K|EARNINGS|annualreport)", re.IGNORECASE
)
_BY_TICKER = re.compile(r"(?P<ticker>[a-z]+)-(?P<form>10-[kq])-\d{4}-\d\d-\d\d")
_FORMS = {"10K": "10-K", "10Q": "10-Q", "8K": "8-K", "EARNINGS": EARNINGS_RELEASE,
          "ANNUALREPORT": ANNUAL_REPORT_TO_HOLDERS}  # fmt: skip


def expected(filing: Filing) -> dict[str, tuple[bool, object, object]]:
    """For each fact in the name: whether it agrees, the value in the name, the value in the filing."""
    name = _FINANCEBENCH.match(filing.doc_name)
    if name:
        form = _FORMS[name["form"].upper()]
        names = [_flat(text) for text in (filing.company, *filing.aliases)]
        year = filing.period_end.year if form == "8-K" and filing.period_end else filing.fiscal_year
        checks: dict[str, tuple[bool, object, object]] = {
            "company": (any(_flat(name["company"]) in text for text in names), name["company"], filing.company),
            "form": (filing.form.removesuffix("/A") == form, form, filing.form),
            "fiscal_year": (year == int(name["year"]), int(name["year"]), year),
        }
        if form != "8-K":
            period = name["quarter"] or "FY"
            checks["fiscal_period"] = (filing.fiscal_period == period, period, filing.fiscal_period)
        return checks
    name = _BY_TICKER.match(filing.doc_name)
    if name:
        form = name["form"].upper()
        return {
            "ticker": (filing.ticker == name["ticker"].upper(), name["ticker"], filing.ticker),
            "form": (filing.form == form, form, filing.form),
        }
    return {}


def _flat(text: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", text.upper())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    folders: list[Path] = parser.parse_args().folders
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    seconds = plain_seconds = 0.0
    filings = pages = failures = 0
    for path in sorted(path for folder in folders for path in folder.iterdir() if path.is_file()):
        content = path.read_bytes()
        started = time.perf_counter()
        try:
            parsed = parse_filing(content, str(path), FilingSettings())
        except FilingError as error:
            failures += 1
            print(f"{path.name}: {error}")
            continue
        finally:
            seconds += time.perf_counter() - started
        filings += 1
        pages += len(parsed.pages)
        missing.update(fact for fact in ("period_end", "ticker", "cik") if getattr(parsed.filing, fact) is None)
        for fact, (agrees, named, found) in expected(parsed.filing).items():
            asked[fact] += 1
            right[fact] += agrees
            if not agrees:
                print(f"{path.name}: {fact}: name {named!r}, filing {found!r} (period end {parsed.filing.period_end})")
        if content.startswith(b"%PDF"):
            started = time.perf_counter()
            with pymupdf.open(stream=content, filetype="pdf") as document:
                for page in document:
                    page.get_text()
            plain_seconds += time.perf_counter() - started
    for fact in asked:
        print(f"{fact:14} {right[fact]:4} of {asked[fact]:4} agree with the name ({right[fact] / asked[fact]:.1%})")
    print(f"not found: {dict(missing)}")
    print(f"{filings} filings, {failures} failures, {pages:,} pages in {seconds:.1f} s")
    print(f"plain text extraction of the PDFs alone: {plain_seconds:.1f} s")


if __name__ == "__main__":
    main()

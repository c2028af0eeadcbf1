"""Reads what EDGAR lists for a company right now (its submissions JSON): today's filings, before tonight's index.

The JSON holds at least the last year, or the last 1,000 filings. edgartools parses it.
"""

from __future__ import annotations

import json

from finray.core.errors import EdgarMissingError, EdgarUnavailableError, UsageError
from finray.edgar.http import EdgarHttp
from finray.edgar.indexes import note_listed
from finray.edgar.listing import Listed, edgartools, filing_url
from finray.edgar.run import Run


def read_companies_now(run: Run, http: EdgarHttp) -> None:
    """Note filings of the chosen companies that no index lists yet, with one request per company.

    Only an index completes a day. Raises UsageError if no companies are chosen, EdgarBlockedError.
    """
    ciks = run.selection.ciks
    if ciks is None:
        raise UsageError("--now sends one request per company: choose companies with --company, --tickers or --ciks")
    for number, cik in enumerate(sorted(ciks)):
        run.progress(number, len(ciks), f"company {cik}")
        url = str(edgartools("urls").build_submissions_url(int(cik)))
        try:
            note_listed(read_company(cik, http.get(url).content or b"", url), run)
        except EdgarMissingError:
            run.problem(f"company {cik}", f"EDGAR knows no company with this CIK ({url})")
        except EdgarUnavailableError as error:
            run.problem(f"company {cik}", error)
    run.ledger.commit()
    run.progress(len(ciks), len(ciks))


def read_company(cik: str, content: bytes, url: str) -> list[Listed]:
    """The filings of a submissions JSON. Raises EdgarUnavailableError if it is not one."""
    import pyarrow as pa

    try:
        company = json.loads(content)
        table = edgartools("entity.data").extract_company_filings_table(company["filings"]["recent"])
        columns = [table[column].to_pylist() for column in ("accession_number", "form", "filing_date")]
        name = str(company["name"])
    except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise EdgarUnavailableError(f"{url}: not a submissions JSON: {type(error).__name__}: {error}") from error
    return [
        Listed(accession, form, name, (cik,), day, day, filing_url(cik, accession))
        for accession, form, day in zip(*columns, strict=True)
    ]

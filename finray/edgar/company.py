"""What EDGAR lists for one company right now (its submissions JSON): filings of today, before the index of the night.

Read by edgartools. Of older filings it holds the last year at least, or the last 1,000.
"""

from __future__ import annotations

import json

from finray.core.errors import EdgarMissingError, EdgarUnavailableError, UsageError
from finray.edgar.apply import note_listed
from finray.edgar.http import EdgarHttp
from finray.edgar.listing import Listed, edgartools, filing_url
from finray.edgar.run import Run


def read_companies_now(run: Run, http: EdgarHttp) -> None:
    """Note what the chosen companies have filed and no index lists yet. One request for each company.

    A day does not get complete by this: its index does that. Raises UsageError where no companies are chosen,
    EdgarBlockedError.
    """
    ciks = run.selection.ciks
    if ciks is None:
        raise UsageError("--now asks for each company by itself: choose companies with --tickers or --ciks")
    for number, cik in enumerate(sorted(ciks)):
        run.progress(number, len(ciks), f"company {cik}")
        url = str(edgartools("urls").build_submissions_url(int(cik)))
        try:
            found = read_company(cik, http.get(url).content or b"", url)
        except EdgarMissingError:
            run.problem(f"company {cik}", f"EDGAR knows no company of this CIK ({url})")
        except EdgarUnavailableError as error:
            run.problem(f"company {cik}", error)
        else:
            run.tally.listed += note_listed(found, run.selection, run.ledger, restore=False)
    run.ledger.commit()
    run.progress(len(ciks), len(ciks))


def read_company(cik: str, content: bytes, url: str) -> list[Listed]:
    """The filings of a submissions JSON. Raises EdgarUnavailableError where it is not one."""
    import pyarrow as pa

    try:
        company = json.loads(content)
        table = edgartools("entity.data").extract_company_filings_table(company["filings"]["recent"])
        rows = table.select(["accession_number", "form", "filing_date"]).to_pylist()
        name = str(company["name"])
    except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise EdgarUnavailableError(f"{url}: this is no submissions JSON: {type(error).__name__}: {error}") from error
    return [
        Listed(
            row["accession_number"],
            row["form"],
            name,
            (cik,),
            row["filing_date"],
            row["filing_date"],
            filing_url(cik, row["accession_number"]),
        )
        for row in rows
    ]

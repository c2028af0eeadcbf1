"""The look-ups of an index that holds one filing, without an index."""

from __future__ import annotations

from collections.abc import Collection

from finray.core.filing import Filing, Page, ParsedFiling
from finray.core.passages import Passage
from finray.core.settings import FilingSettings
from finray.core.tables import Table
from finray.filings.read import parse_filing
from finray.index.reading.facts import FilingFacts, FilingItems

_COVER = (
    "<p>FORM 10-K</p><p>ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934</p>"
    "<p>For the fiscal year ended December 31, 2022</p><p>Commission file number 1-12345</p>"
    "<p>ACME PRODUCTS INC</p><p>(Exact name of registrant as specified in its charter)</p>"
)
_BREAK = '<hr style="page-break-after:always">'


def parsed(*pages: str) -> ParsedFiling:
    """A 10-K for the year to December 2022 whose ``pages`` of HTML follow its cover, page 0."""
    content = f"<html><body>{_BREAK.join((_COVER, *pages))}</body></html>"
    return parse_filing(content.encode(), "ACME_2022_10K.htm", FilingSettings())


def html_table(rows: str) -> str:
    """``rows``: one a line, cells separated by "|"; "text*3" spans three columns."""
    lines = [[cell.strip().partition("*") for cell in row.split("|")] for row in rows.strip().split("\n")]
    cells = ("".join(f"<td colspan={span or 1}>{text}</td>" for text, _, span in line) for line in lines)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


class OneFiling(FilingFacts):
    def __init__(self, parsed: ParsedFiling) -> None:
        self._parsed = parsed

    def filing(self, filing_id: str) -> Filing:
        return self._parsed.filing

    def company_of(self, filing_id: str) -> str:
        return self._parsed.filing.company

    def company_name(self, company: str) -> str:
        return company

    def has_company(self, company: str) -> bool:
        return company == self._parsed.filing.company

    def pages(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], Page]:
        own = self._parsed.pages
        return {(filing_id, page): own[page] for filing_id, page in places if 0 <= page < len(own)}

    def tables(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], tuple[Table, ...]]:
        return {
            place: tuple(table for table in self._parsed.tables if table.page <= place[1] <= table.last_page)
            for place in places
        }

    def line_items(self, filing_ids: Collection[str]) -> dict[str, FilingItems]:
        return dict.fromkeys(filing_ids, FilingItems(self._parsed.line_items))

    def whole_page(self, page: int) -> Passage:
        filing, text = self._parsed.filing, self._parsed.pages[page].text
        return Passage(filing.doc_name, filing.filing_id, page, 0, len(text), text, 1.0)

"""The look-ups of an index that holds one filing, without an index."""

from __future__ import annotations

from collections.abc import Collection

from finray.core.filing import Filing, Page, ParsedFiling
from finray.core.passages import Passage
from finray.index.reading.facts import FilingFacts, FilingItems


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

    def line_items(self, filing_ids: Collection[str]) -> dict[str, FilingItems]:
        return dict.fromkeys(filing_ids, FilingItems(self._parsed.line_items))

    def whole_page(self, page: int) -> Passage:
        filing, text = self._parsed.filing, self._parsed.pages[page].text
        return Passage(filing.doc_name, filing.filing_id, page, 0, len(text), text, 1.0)

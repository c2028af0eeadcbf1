"""Evidence as shown: blocks of rendered text, and the figures in them by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from finray.core.filing import Filing, LineItem
from finray.core.passages import Passage, RenderedBlock
from finray.evidence import markdown


@dataclass(frozen=True, slots=True)
class EvidenceBlock(RenderedBlock):
    """A table or prose of one page. ``text`` begins with the title, if there is one.

    ``marked`` is ``text`` with names for its figures, ``cells`` has the figure of each name: "B7" is in column B and
    row 7 of a table, or the second figure of the seventh sentence. ``passages`` are the retrieved passages that it
    shows, best first; another table of their page shows none. ``source`` is the page's own text that was rendered.
    """

    filing: Filing
    marked: str
    cells: Mapping[str, LineItem]
    source: Passage
    passages: tuple[Passage, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many tokens of a language model ``marked`` has."""
        return markdown.tokens(self.marked)

    @property
    def rendered(self) -> RenderedBlock:
        """The block as a prediction records it."""
        return RenderedBlock(self.id, self.doc_name, self.filing_id, self.page, self.kind, self.heading, self.text)

"""Evidence as shown: blocks of rendered text, and the cells that a program may use."""

from __future__ import annotations

from dataclasses import dataclass

from finray.core.filing import Filing, LineItem
from finray.core.passages import Passage, RenderedBlock
from finray.evidence import markdown
from finray.evidence.heads import in_words, period_words


@dataclass(frozen=True, slots=True)
class EvidenceBlock(RenderedBlock):
    """A table or prose of one page. ``text`` begins with the title, if there is one.

    ``passages`` are the retrieved passages that it shows, best first; another table of their page shows none.
    ``source`` is the page's own text that was rendered.
    """

    source: Passage
    passages: tuple[Passage, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many tokens of a language model ``text`` has."""
        return markdown.tokens(self.text)

    @property
    def rendered(self) -> RenderedBlock:
        """The block as a prediction records it."""
        return RenderedBlock(self.id, self.doc_name, self.filing_id, self.page, self.kind, self.heading, self.text)


@dataclass(frozen=True, slots=True)
class EvidenceCell:
    """A figure that a program or a citation can name by its ``id`` (``c1``, ``c2``, ...). ``block`` is the id of the
    block that shows it. Its value in base units is ``item.value``."""

    id: str
    block: str
    item: LineItem
    filing: Filing
    operand: str | None = None
    """The operand of the plan that it covers."""

    @property
    def text(self) -> str:
        """The cell on one line of Markdown: label, column, period, figure as printed with unit and scale, page."""
        item = self.item
        label = " / ".join(filter(None, (item.section, item.label, item.column_label)))
        unit = in_words(item.unit, item.scale)
        parts = (label, period_words(item, self.filing), f"{item.text} ({unit})")
        shown = "; ".join(markdown.plain(part) for part in parts if part)
        return f"{self.id}: {shown}; {markdown.plain(self.filing.doc_name)}, p. {item.page + 1}"

    @property
    def tokens(self) -> int:
        """About how many tokens of a language model ``text`` has."""
        return markdown.tokens(self.text)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the passages of a question show, the most useful block first."""

    blocks: tuple[EvidenceBlock, ...] = ()
    cells: tuple[EvidenceCell, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(block.tokens for block in self.blocks) + sum(cell.tokens for cell in self.cells)

"""Reads the pages of filings from the index as their features need them, and keeps them for the next questions.

Questions come back to the same filings. What does not depend on the question (places, vectors, terms of text and
headings) is prepared once for each filing; the text of a page is prepared when it is first compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from finray.core.settings import IndexSettings
from finray.core.sized_cache import SizedCache
from finray.index.reading.reader import IndexReader
from finray.index.schema import vectors_matrix
from finray.index.tables.hits import ROW_ID
from finray.models.encoder import Vectors
from finray.question.terms import content_terms, term_lines
from finray.retrieval.subjects import Subject

Numbers = npt.NDArray[np.int64]
_COLUMNS: Final = ("filing_id", "page", "start", "end", "text", "vector", ROW_ID)
_TEXT_BYTES: Final = 7
"""Bytes in memory for each byte of a filing's chunks: the table, the texts of pages, and 8 bytes for each term."""
_PAGE_BYTES: Final = 2_000
_ITEM = re.compile(r"^items? (\d{1,2}[abc]?)\b", re.I | re.M)
_FIGURE = re.compile(r"(?:^|\|)\s*+(?:[$(]++\s*+)?(?:\d[\d,.]*+|[—–-])\s*+(?:[)%]++\s*+)?(?=$|\|)|^\s*+\$")
"""A cell that is a figure. A row is one line in text from HTML; each cell is a line in text from PDF."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What the index knows about a page."""

    number: int
    item: str | None
    statement: str | None
    place: str | None
    headings: str
    items: frozenset[str | None]
    """Its own Item, and the Items that its headings name."""
    row: int
    """Its row id in the index."""


class PageText:
    """The text of one page. ``terms`` int64 are the codes of its terms in reading order; line i begins with term
    ``lines[i]``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.terms, self.lines = term_lines(text)
        self._rows: dict[int, bool] = {}

    @cached_property
    def figures(self) -> float:
        """How much of the text is figures, in [0, 1]; 1 for a primary statement."""
        digits = sum(self.text.count(character) for character in set(self.text) if character.isdigit())
        return min(1.0, digits / max(1, len(self.text)) / 0.15)

    def has_number(self, digits: str) -> bool:
        """Whether the text has ``digits`` as a word of its own, such as a year."""
        start = self.text.find(digits)
        while start >= 0:
            around = self.text[max(0, start - 1) : start] + self.text[start + len(digits) : start + len(digits) + 1]
            if not any(character.isalnum() or character == "_" for character in around):
                return True
            start = self.text.find(digits, start + 1)
        return False

    def first_row(self, numbers: Iterable[int]) -> int | None:
        """The first of the lines ``numbers`` that is a row of a table; None if none is."""
        printed: list[str] = []
        for number in numbers:
            known = self._rows.get(number)
            if known is None:
                printed = printed or self.text.split("\n")
                known = self._rows[number] = _is_row(printed, number)
            if known:
                return number
        return None


def _is_row(lines: Sequence[str], number: int) -> bool:
    """Whether line ``number`` is a row of a table: label and figures in one line, or in text from PDF the figures in
    the next line."""
    line, after = lines[number], lines[number + 1] if number + 1 < len(lines) else ""
    return _FIGURE.search(line) is not None or (_FIGURE.match(after) is not None and len(line) > 2)


@dataclass(slots=True)
class FilingPages:
    """The chunks of a filing and the pages that have one, both by place.

    ``starts[i]`` is the first row of page i in ``chunks``, which has no vectors; ``vectors`` is float32 [chunks, d].
    ``chunk_rows`` and ``page_rows`` are the row ids of ``chunks`` and ``pages`` in the index. ``sums`` are the vectors
    of each page's chunks, added; ``lengths`` their norms.
    """

    filing_id: str
    chunks: pa.Table
    vectors: Vectors
    chunk_rows: Numbers
    starts: Numbers
    sums: Vectors
    lengths: Vectors
    pages: tuple[PageFacts, ...]
    """Those of the ``pages`` table that have a chunk."""
    page_rows: Numbers
    numbers: Numbers
    """The place of each of ``pages`` among the pages of ``starts``."""
    headed: Mapping[str, Numbers]
    """Which of ``pages`` have the term in their first two headings."""
    _texts: dict[int, PageText] = field(default_factory=dict)
    _subjects: dict[str, tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Approximate bytes in memory once all texts are read."""
        return int(_TEXT_BYTES * self.chunks.nbytes + self.vectors.nbytes + _PAGE_BYTES * len(self.pages))

    def text(self, at: int) -> PageText:
        """The text of ``pages[at]``, joined from its chunks: they overlap, and leave out nothing but white space."""
        text = self._texts.get(at)
        if text is None:
            number = int(self.numbers[at])
            first = int(self.starts[number])
            last = int(self.starts[number + 1]) if number + 1 < len(self.starts) else self.chunks.num_rows
            rows = self.chunks.slice(first, last - first)
            text = self._texts[at] = PageText(_joined(rows["start"].to_pylist(), rows["text"].to_pylist()))
        return text

    def about(self, subject: Subject) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which of ``pages`` name ``subject`` in their headings, and which treat it by Item or place."""
        known = self._subjects.get(subject.key)
        if known is None:
            named = [bool(page.headings) and subject.printed.search(page.headings) is not None for page in self.pages]
            treated = [bool(subject.items & page.items) or page.place in subject.places for page in self.pages]
            known = self._subjects[subject.key] = np.asarray(named, dtype=bool), np.asarray(treated, dtype=bool)
        return known


class PageCache:
    """Keeps the pages of the filings used last, in ``cache_bytes``.

    Keys contain the revision of a filing, and the reader sees one version of the index, so nothing gets out of date.
    """

    def __init__(self, reader: IndexReader, cache_bytes: int = IndexSettings().cache_bytes) -> None:
        self.reader = reader
        self._kept: SizedCache[tuple[str, str | None], FilingPages] = SizedCache(cache_bytes)

    def filings(self, filing_ids: Sequence[str]) -> list[FilingPages]:
        """The pages of each filing that has chunks, by filing id."""
        revisions = self.reader.revisions
        found = {
            filing_id: self._kept.get((filing_id, revisions.get(filing_id))) for filing_id in sorted(set(filing_ids))
        }
        absent = [filing_id for filing_id, pages in found.items() if pages is None]
        for pages in _read(self.reader, absent) if absent else ():
            found[pages.filing_id] = pages
            self._kept.put((pages.filing_id, revisions.get(pages.filing_id)), pages, pages.size)
        return [pages for pages in found.values() if pages is not None]


def _read(reader: IndexReader, filing_ids: Sequence[str]) -> list[FilingPages]:
    facts: dict[str, list[PageFacts]] = {}
    columns = ["filing_id", "page", "item", "statement", "place", "headings", ROW_ID]
    for row in reader.pages(filing_ids, columns).to_pylist():
        items = frozenset([row["item"], *(match.upper() for match in _ITEM.findall(row["headings"]))])
        page = PageFacts(row["page"], row["item"], row["statement"], row["place"], row["headings"], items, row[ROW_ID])
        facts.setdefault(row["filing_id"], []).append(page)
    chunks = reader.chunks(filing_ids, _COLUMNS)
    ids = chunks["filing_id"].to_pylist()
    firsts = [row for row in range(len(ids)) if row == 0 or ids[row] != ids[row - 1]]
    return [
        _filing_pages(ids[first], chunks.slice(first, stop - first), facts.get(ids[first], ()))
        for first, stop in zip(firsts, [*firsts[1:], len(ids)], strict=True)
    ]


def _filing_pages(filing_id: str, chunks: pa.Table, facts: Sequence[PageFacts]) -> FilingPages:
    # A slice keeps the rows of all filings that were read with it in memory; a copy does not.
    chunks = pa.Table.from_batches([_copied(chunks)])
    vectors = vectors_matrix(chunks["vector"])
    pages, rows = (chunks[name].to_numpy().astype(np.int64) for name in ("page", ROW_ID))
    firsts = np.flatnonzero(np.diff(pages, prepend=-1))
    sums = np.add.reduceat(vectors, firsts, axis=0)
    place = {int(page): at for at, page in enumerate(pages[firsts])}
    own = tuple(page for page in facts if page.number in place)
    headed: dict[str, list[int]] = {}
    for at, page in enumerate(own):
        for term in set(content_terms("\n".join(page.headings.split("\n", 2)[:2]))):
            headed.setdefault(term, []).append(at)
    return FilingPages(
        filing_id=filing_id,
        chunks=chunks.drop_columns(["vector", ROW_ID]),
        vectors=vectors,
        chunk_rows=rows,
        starts=firsts,
        sums=sums,
        lengths=np.linalg.norm(sums, axis=1),
        pages=own,
        page_rows=np.asarray([page.row for page in own], dtype=np.int64),
        numbers=np.asarray([place[page.number] for page in own], dtype=np.int64),
        headed={term: np.asarray(found, dtype=np.int64) for term, found in headed.items()},
    )


def _copied(table: pa.Table) -> pa.RecordBatch:
    return table.take(pa.array(np.arange(table.num_rows))).combine_chunks().to_batches()[0]


def _joined(starts: Sequence[int], texts: Sequence[str]) -> str:
    parts: list[str] = []
    end = starts[0]
    for start, text in zip(starts, texts, strict=True):
        parts.append("\n" + text if start > end else text[end - start :])
        end = max(end, start + len(text))
    return "".join(parts)

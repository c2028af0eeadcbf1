"""A row model whose scores are given by the words of the rows, in place of the trained one, and the readings by it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from finray.answering.table_reader.readings import Readings
from finray.answering.table_reader.table_answerer import TableAnswerer
from finray.core.arrays import Floats
from finray.core.filing import LineItem
from finray.core.query import Query
from finray.core.roles import Curation
from finray.models.row_reader import MEASURES, OPERATIONS, RowReader, RowScores
from tests.answering.made_up_cells import facts, passage


class FakeRowReader(RowReader):
    """Is sure of ``operation``, and of rows as operands that contain the given words."""

    def __init__(
        self,
        operation: str,
        first: str = "",
        second: str = "",
        listed: Sequence[str] = (),
        *,
        backwards: bool = False,
        present: float = 6.0,
    ) -> None:
        self.operation = operation
        self._first, self._second, self._listed = first, second, listed
        self._backwards, self._present = backwards, present

    def rows(self, question: str, rows: Sequence[str]) -> RowScores:
        operations = np.full(len(OPERATIONS), -8.0)
        operations[OPERATIONS.index(self.operation)] = -0.01

        def with_words(*words: str) -> Floats:
            return np.asarray([6.0 if any(word and word in row for word in words) else -6.0 for row in rows])

        return RowScores(
            first=with_words(self._first),
            second=with_words(self._second),
            listed=with_words(*self._listed),
            operand=with_words(self._first, self._second, *self._listed),
            present=self._present,
            operations=operations,
            several=4.0 if self._second or self._listed else -4.0,
            measures=np.full(len(MEASURES), -1.6),
            backwards=4.0 if self._backwards else -1.0,
        )


def readings_by(
    reader: FakeRowReader, items: Sequence[LineItem], query: Query | None = None, pages: Sequence[int] = (3,)
) -> Readings:
    """The readings of ``items`` on ``pages`` for ``query``, by default for a question that names nothing."""
    text = "How do these figures compare?"
    curation = Curation(tuple(map(passage, pages)), answerable=True)
    competing = TableAnswerer(facts(items), reader).competing(query or Query(text, text, ("acme",)), curation)
    assert competing is not None
    return competing.found

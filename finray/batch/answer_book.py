"""Answers as a spreadsheet beside the store of predictions.

A workbook cannot be appended to, so a run stores its predictions in ``<out>.predictions.jsonl`` and resumes from there.
The spreadsheet is written from it in one step, at the end and if the run is interrupted.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from finray.batch.answer_sheets import (
    ANSWER_COLUMNS,
    EVIDENCE_COLUMNS,
    GRID_COLUMNS,
    NOT_ASKED,
    answer_row,
    evidence_rows,
    free_names,
    grid_rows,
)
from finray.batch.panels import Panel, PanelTable
from finray.batch.prediction_store import PredictionStore
from finray.batch.question_lines import BadLine
from finray.batch.question_tables import QuestionFile
from finray.core.journal import Journal
from finray.core.predictions import Prediction, Status
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.filings.pages.page_links import PageLinks
from finray.storage.csv_write import CsvWriter
from finray.storage.locations import write_bytes
from finray.storage.sheets import Cell, Column, SheetWriter
from finray.storage.workbook_write import WorkbookWriter

_MIN_WIDTH, _MAX_WIDTH = 8, 48


def check_spreadsheet(uri: str) -> None:
    """Raise MissingExtraError before any work is done if the package that writes ``uri`` is not installed."""
    if uri.lower().endswith(".xlsx"):
        WorkbookWriter()


@dataclass(frozen=True, slots=True)
class AnswerBook:
    """What a spreadsheet at ``uri`` shows besides the predictions. ``about`` are facts of the run by name."""

    uri: str
    asked: QuestionFile
    links: PageLinks
    settings: Settings
    about: Mapping[str, str] = field(default_factory=dict)
    panel: Panel | None = None

    def write(self, store: PredictionStore) -> None:
        """Write the spreadsheet from the predictions in ``store`` so far. Raises SourceError."""
        store.finish((line.qid for line in self.asked.lines), self.settings.answer_hash())
        write_bytes(self.uri, self._workbook(store) if self.uri.lower().endswith(".xlsx") else self._csv(store))

    def _csv(self, store: PredictionStore) -> bytes:
        if self.panel is None:
            table = CsvWriter(self._columns())
            for line, prediction in _in_order(store, self.asked.lines):
                table.append(self._answer(line, prediction))
            return table.content()
        panel = PanelTable(self.panel, self.links)
        for prediction in store.stored():
            panel.add(prediction)
        table = CsvWriter(panel.columns)
        for cells in panel.rows():
            table.append(cells)
        return table.content()

    def _workbook(self, store: PredictionStore) -> bytes:
        book = WorkbookWriter()
        answers, evidence = book.sheet("answers", self._columns()), book.sheet("evidence", EVIDENCE_COLUMNS)
        panel = None if self.panel is None else PanelTable(self.panel, self.links)
        grids: list[list[Cell]] = []
        totals = _Totals()
        for line, prediction in _in_order(store, self.asked.lines):
            answers.append(self._answer(line, prediction))
            totals.add(prediction)
            if prediction is None:
                continue
            for cells in evidence_rows(prediction, self.links):
                evidence.append(cells)
            grids.extend(grid_rows(prediction, self.links))
            if panel is not None:
                panel.add(prediction)
        if grids:
            sheet = book.sheet("grids", GRID_COLUMNS)
            for cells in grids:
                sheet.append(cells)
        self._settings_sheet(book.sheet("settings", (Column("name", 32), Column("value", 64))), totals)
        if panel is not None:
            sheet = book.sheet("panel", panel.columns, first=True, frozen=2)
            for cells in panel.rows():
                sheet.append(cells)
        return book.content()

    def _columns(self) -> list[Column]:
        own = [Column(name, min(max(len(name) + 2, _MIN_WIDTH), _MAX_WIDTH)) for name in self.asked.columns]
        own = own or [Column("question", 56)]
        return [*own, *free_names(ANSWER_COLUMNS, [column.name for column in own])]

    def _answer(self, line: Question | BadLine, prediction: Prediction | None) -> list[Cell]:
        own: list[Cell] = [_text(line)]
        if self.asked.columns:
            cells = self.asked.rows[line.qid]
            own = [*cells, *[None] * (len(self.asked.columns) - len(cells))]
        return own + answer_row(prediction, line.qid, self.links)

    def _settings_sheet(self, sheet: SheetWriter, totals: _Totals) -> None:
        for name, value in self.about.items():
            sheet.append([name, value])
        sheet.append(["written", dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")])
        sheet.append(["finray", version("finray")])
        sheet.append(["settings hash", self.settings.answer_hash()])
        for cells in totals.rows():
            sheet.append(cells)
        shown = self.settings.model_dump(mode="json", include={"retrieval", "loop", "evidence", "encoder"})
        shown |= {"llm": {"model": self.settings.llm.model}}
        for name, cell in _flat(shown):
            sheet.append([name, cell])


class _Totals:
    """Counts and costs of a run, for the sheet of settings."""

    def __init__(self) -> None:
        self._statuses: Counter[Status | None] = Counter()
        self._grounded = 0
        self._confident: list[float] = []
        self._spent = Journal()

    def add(self, prediction: Prediction | None) -> None:
        self._statuses[None if prediction is None else prediction.status] += 1
        if prediction is None:
            return
        self._grounded += prediction.grounded is True
        if prediction.confidence is not None:
            self._confident.append(prediction.confidence)
        for stage, tokens in prediction.usage.items():
            self._spent.spend(stage, tokens)

    def rows(self) -> Iterator[list[Cell]]:
        yield ["questions", self._statuses.total()]
        yield ["answered", self._statuses["answered"]]
        yield ["unanswerable", self._statuses["unanswerable"]]
        yield ["errors", self._statuses["error"]]
        yield [NOT_ASKED, self._statuses[None]]
        yield ["grounded answers", self._grounded]
        if self._confident:
            yield ["mean confidence", round(sum(self._confident) / len(self._confident), 4)]
        for stage, tokens in self._spent.usage.items():
            yield [f"tokens in, {stage}", tokens.prompt_tokens]
            yield [f"tokens out, {stage}", tokens.completion_tokens]
            if tokens.cost:
                yield [f"cost, {stage}", tokens.cost]


def _in_order(
    store: PredictionStore, lines: Sequence[Question | BadLine]
) -> Iterator[tuple[Question | BadLine, Prediction | None]]:
    """Each line with the prediction for it, if there is one. The store is in the order of the lines."""
    stored = store.stored()
    ahead = next(stored, None)
    for line in lines:
        found = None
        if ahead is not None and ahead.qid == line.qid:
            # Interrupted, the store may still have the answer to what the line asked before.
            found = ahead if ahead.question == _text(line) else None
            ahead = next(stored, None)
        yield line, found


def _text(line: Question | BadLine) -> str:
    return line.text if isinstance(line, BadLine) else line.question


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Cell]]:
    """Nested ``values`` by dotted name."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            shown = value if isinstance(value, (str, int, float)) or value is None else str(value)
            yield f"{prefix}{name}", shown

"""Panels: one question asked about every company and year, and the answers as a table of companies, years, metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from finray.batch.answer_sheets import NOT_ASKED, number, reason
from finray.batch.question_lines import question_id
from finray.core.errors import UsageError
from finray.core.period import Period
from finray.core.predictions import CitedCell, Prediction
from finray.core.query import Span
from finray.core.questions import Question
from finray.filings.pages.page_links import PageLinks
from finray.question.grids import grid_question
from finray.question.periods.named import periods_in
from finray.question.rule_reader import plain_query, with_measures
from finray.question.wording import unexplained_words
from finray.storage.sheets import Cell, Column, Styled, number_format

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_KNOWN = {"company", "year", "metric"}
_COMPANY_WORDS = re.compile(r"\{company\}(?:['’]s)?")
_YEAR_WORDS = re.compile(
    r"(?:\b(?:in|for|of|at|as of)\s+)?(?:the\s+)?(?:end of\s+)?(?:fiscal\s+|FY\s*)?(?:year\s+)?\{year\}", re.I
)
_ASKING = re.compile(r"^(?:what\s+(?:was|were|is|are)\s+(?:the\s+)?)", re.I)
_ANYONE = "Acme"
"""Stands for a company while a template is read."""
_YEARS = re.compile(r"(\d{4})(?:\s*[-–]\s*(\d{4}))?")
MAX_QUESTIONS = 1_000_000
Place = tuple[str, tuple[int, ...], str]
"""(company, years, metric)"""


@dataclass(frozen=True, slots=True)
class Panel:
    """``metrics`` maps the name of each column to its template, which contains ``{company}`` and ``{year}``."""

    companies: tuple[str, ...]
    years: tuple[int, ...]
    metrics: Mapping[str, str]
    series: frozenset[str] = frozenset()
    """The metrics that are asked once for all years, so that the figures of a company are of one line."""

    @classmethod
    def of(
        cls, templates: Sequence[str], companies: Sequence[str], years: Sequence[int], metrics: Sequence[str] = ()
    ) -> Self:
        """A panel of ``templates``, in which ``{metric}`` stands for each of ``metrics``. "name = template" names the
        column; without a name it is what remains of the template without company and year. Raises UsageError.

        >>> Panel.of(["{company}: capital expenditure in fiscal {year}"], ["Acme"], [2020]).metrics
        {'capital expenditure': '{company}: capital expenditure in fiscal {year}'}
        """
        found: dict[str, str] = {}
        for given in templates:
            for name, template in _with_metrics(given, metrics):
                if found.setdefault(name, template) != template:
                    raise UsageError(f"two templates are called {name!r}; write 'another name = {template}'")
        wanted = {
            "a template, such as '{company}: revenue in fiscal {year}'": found,
            "a company": companies,
            "a year": years,
        }
        for what, there in wanted.items():
            if not there:
                raise UsageError(f"a panel needs at least {what}")
        panel = cls(tuple(dict.fromkeys(companies)), tuple(dict.fromkeys(years)), found)
        count = len(panel.companies) * len(panel.years) * len(found)
        if count > MAX_QUESTIONS:
            raise UsageError(f"a panel of {count:,} questions; at most {MAX_QUESTIONS:,}")
        return panel

    def in_series(self) -> Panel:
        """The panel with the metrics that rules read as line items asked once for all years, as a grid."""
        return replace(
            self, series=frozenset(name for name, each in self.metrics.items() if _is_series(each, self.years))
        )

    def questions(self) -> list[Question]:
        """A question for each company and metric of ``series``, then for each company, year and other metric."""
        return [Question(qid, text) for _, qid, text in self._asked()]

    def places(self) -> dict[str, Place]:
        """The places that the answer to each question fills, by qid."""
        return {qid: place for place, qid, _ in self._asked()}

    def _asked(self) -> Iterator[tuple[Place, str, str]]:
        """(place, qid, question) for each question."""
        given: dict[str, int] = {}
        for company in self.companies:
            for years in (self.years, *((year,) for year in self.years)):
                for metric, template in self.metrics.items():
                    if (metric in self.series) == (years is self.years):
                        text = template.replace("{year}", _in_words(years)).replace("{company}", company)
                        yield (company, years, metric), question_id(text, given), text


class PanelTable:
    """The table of a panel: a row for each company and year, a column for each metric, and why cells are empty."""

    def __init__(self, panel: Panel, links: PageLinks) -> None:
        self._panel = panel
        self._links = links
        self._places = panel.places()
        self._cells: dict[tuple[str, int, str], _Answer] = {}

    def add(self, prediction: Prediction) -> None:
        """Fill in an answer. Ignores predictions for other questions."""
        place = self._places.get(prediction.qid)
        if place is None:
            return
        company, years, metric = place
        for year in years:
            in_series = metric in self._panel.series
            answer = self._in_series(prediction, year) if in_series else self._alone(prediction)
            self._cells[company, year, metric] = answer

    def _alone(self, prediction: Prediction) -> _Answer:
        if prediction.status != "answered":
            return _Answer(reason=reason(prediction))
        if prediction.value is None:
            return _Answer(prediction.answer, confidence=prediction.confidence)
        cell = prediction.operands[0] if prediction.operands else None
        return _Answer(replace(number(prediction), link=self._link(cell)), prediction.unit, prediction.confidence)

    def _in_series(self, prediction: Prediction, year: int) -> _Answer:
        """The figure of ``year`` in the answer over all years."""
        grid = prediction.grid
        if grid is None:
            return _Answer(reason=reason(prediction) or "not answered year by year")
        cell = grid.cell(grid.companies[0], str(Period(year, "FY")), grid.items[0])
        if cell.value is None:
            return _Answer(reason=cell.reason)
        source = next((each for each in prediction.operands if each.name in cell.operands), None)
        styled = Styled(cell.value, number_format(cell.unit, cell.value), self._link(source))
        note = f"the row “{cell.row}” of {year} may be another line" if cell.other_row else ""
        return _Answer(styled, cell.unit, prediction.confidence, note)

    def _link(self, cell: CitedCell | None) -> str | None:
        return None if cell is None else self._links.page(cell.filing_id, cell.page, cell.box)

    @property
    def columns(self) -> list[Column]:
        named = [Column("company", 28), Column("fiscal year", 11)]
        for metric in self._panel.metrics:
            units = self._units(metric)
            name = f"{metric} ({', '.join(units)})" if units else metric
            named.append(Column(name, min(max(len(name) + 2, 16), 40)))
        return [*named, Column("least confidence", 15), Column("missing", 80)]

    def rows(self) -> Iterator[list[Cell]]:
        mixed = {metric for metric in self._panel.metrics if len(self._units(metric)) > 1}
        for company in self._panel.companies:
            for year in self._panel.years:
                row: list[Cell] = [company, year]
                missing: dict[str, list[str]] = {}
                confidences: list[float] = []
                for metric in self._panel.metrics:
                    answer = self._cells.get((company, year, metric), _UNASKED)
                    row.append(_with_unit(answer) if metric in mixed else answer.cell)
                    if answer.confidence is not None:
                        confidences.append(answer.confidence)
                    if answer.reason:
                        missing.setdefault(answer.reason, []).append(metric)
                row.append(Styled(min(confidences), "0%") if confidences else None)
                row.append("; ".join(f"{', '.join(metrics)}: {reason}" for reason, metrics in missing.items()) or None)
                yield row

    def _units(self, metric: str) -> list[str]:
        units = (answer.unit for (_, _, name), answer in self._cells.items() if name == metric)
        return list(dict.fromkeys(filter(None, units)))


@dataclass(frozen=True, slots=True)
class _Answer:
    """One cell of a panel; ``reason`` says why it is empty, or what is to be known about its figure."""

    cell: Cell = None
    unit: str | None = None
    confidence: float | None = None
    reason: str = ""


_UNASKED = _Answer(reason=NOT_ASKED)


def read_years(text: str) -> tuple[int, ...]:
    """The years of "2018-2022", "2018, 2020" or both. Raises UsageError."""
    years: dict[int, None] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _YEARS.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last - first > 200:
            raise UsageError(f"years {part!r}: write them as 2018-2022 or 2018,2020")
        years |= dict.fromkeys(range(first, last + 1))
    if not years:
        raise UsageError("no years; write them as 2018-2022 or 2018,2020")
    return tuple(years)


def _in_words(years: Sequence[int]) -> str:
    *before, last = map(str, years)
    return f"{', '.join(before)} and {last}" if before else last


def _is_series(template: str, years: Sequence[int]) -> bool:
    """Whether rules read ``template``, asked for all ``years`` at once, as one line item or formula year by year."""
    text = template.replace("{year}", _in_words(years)).replace("{company}", _ANYONE)
    query = plain_query(text)
    read = [*(span for span in query.spans if span.kind == "metric"), *_where(_ANYONE, text)]
    query = replace(query, companies=(_ANYONE,), names=(_ANYONE,), periods=periods_in(text))
    query = with_measures(replace(query, unexplained=unexplained_words(text, read)))
    asked = grid_question(query, (), None)
    one = asked is not None and not asked.phrases and len(asked.formulas) == 1 and asked.verdict == "list"
    return one and asked is not None and {period.year for period in asked.periods} == set(years)


def _where(name: str, text: str) -> list[Span]:
    starts = (start for start in range(len(text)) if text.startswith(name, start))
    return [Span("company", start, start + len(name), name) for start in starts]


def _with_metrics(given: str, metrics: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(name, template) for a template as it was given, once for each metric if it has ``{metric}``."""
    name, separator, template = given.partition("=")
    if not separator or "{" in name:
        name, template = "", given
    name, template = name.strip(), template.strip()
    holders = set(_PLACEHOLDER.findall(template))
    if unknown := sorted(holders - _KNOWN):
        raise UsageError(
            f"template {given!r}: {{{unknown[0]}}} is unknown; it can use {{company}}, {{year}}, {{metric}}"
        )
    if absent := sorted({"company", "year"} - holders):
        raise UsageError(f"template {given!r} has no {{{absent[0]}}}: its questions would all be the same")
    if "metric" not in holders:
        yield name or _remains(template), template
        return
    if not metrics:
        raise UsageError(f"template {given!r} has {{metric}}; name the metrics by --metric")
    for metric in metrics:
        yield metric, template.replace("{metric}", metric)


def _remains(template: str) -> str:
    """What a template asks for, without company, year and the words around them."""
    text = _ASKING.sub("", _YEAR_WORDS.sub(" ", _COMPANY_WORDS.sub(" ", template)).strip(" :,;-–—?."))
    return " ".join(text.split()).strip(" :,;-–—?.") or template


def _with_unit(answer: _Answer) -> Cell:
    """The cell of a metric with answers in several units, with the unit in its number format."""
    cell = answer.cell
    if not isinstance(cell, Styled) or answer.unit is None or answer.unit == "percent":
        return cell
    unit = answer.unit.replace('"', "")
    return Styled(cell.value, f'{cell.number_format} "{unit}"', cell.link)

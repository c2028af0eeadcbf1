"""Panels: one question asked about every company and year, and the answers as a table of companies, years, metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from finray.batch.answer_sheets import NOT_ASKED, number, reason
from finray.batch.question_lines import question_id
from finray.core.errors import UsageError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.filings.pages.page_links import PageLinks
from finray.storage.sheets import Cell, Column, Styled

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_KNOWN = {"company", "year", "metric"}
_COMPANY_WORDS = re.compile(r"\{company\}(?:['’]s)?")
_YEAR_WORDS = re.compile(
    r"(?:\b(?:in|for|of|at|as of)\s+)?(?:the\s+)?(?:end of\s+)?(?:fiscal\s+|FY\s*)?(?:year\s+)?\{year\}", re.I
)
_ASKING = re.compile(r"^(?:what\s+(?:was|were|is|are)\s+(?:the\s+)?)", re.I)
_YEARS = re.compile(r"(\d{4})(?:\s*[-–]\s*(\d{4}))?")
MAX_QUESTIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class Panel:
    """``metrics`` maps the name of each column to its template, which contains ``{company}`` and ``{year}``."""

    companies: tuple[str, ...]
    years: tuple[int, ...]
    metrics: Mapping[str, str]

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

    def questions(self) -> list[Question]:
        """A question for each company, year and metric, in this order."""
        return [Question(qid, text) for _, qid, text in self._asked()]

    def places(self) -> dict[str, tuple[str, int, str]]:
        """(company, year, metric) by qid."""
        return {qid: place for place, qid, _ in self._asked()}

    def _asked(self) -> Iterator[tuple[tuple[str, int, str], str, str]]:
        """((company, year, metric), qid, question) for each question."""
        given: dict[str, int] = {}
        for company in self.companies:
            for year in self.years:
                for metric, template in self.metrics.items():
                    text = template.replace("{year}", str(year)).replace("{company}", company)
                    yield (company, year, metric), question_id(text, given), text


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
        if prediction.status != "answered":
            answer = _Answer(reason=reason(prediction))
        elif prediction.value is None:
            answer = _Answer(prediction.answer, confidence=prediction.confidence)
        else:
            cell = prediction.operands[0] if prediction.operands else None
            link = self._links.page(cell.filing_id, cell.page, cell.box) if cell is not None else None
            answer = _Answer(replace(number(prediction), link=link), prediction.unit, prediction.confidence)
        self._cells[place] = answer

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
                    if answer.cell is None:
                        missing.setdefault(answer.reason, []).append(metric)
                row.append(Styled(min(confidences), "0%") if confidences else None)
                row.append("; ".join(f"{', '.join(metrics)}: {reason}" for reason, metrics in missing.items()) or None)
                yield row

    def _units(self, metric: str) -> list[str]:
        units = (answer.unit for (_, _, name), answer in self._cells.items() if name == metric)
        return list(dict.fromkeys(filter(None, units)))


@dataclass(frozen=True, slots=True)
class _Answer:
    """One cell of a panel; ``reason`` says why it is empty."""

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

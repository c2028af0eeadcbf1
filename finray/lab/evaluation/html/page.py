"""Renders analyses as one HTML file.

The template escapes all text from questions, filings and models. As a second barrier, the page's content security
policy allows no script, no request and no form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from finray.core.passages import PageKey
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation.analysis import Analysis, Case, worst_cases
from finray.lab.evaluation.html import charts, tables
from finray.lab.evaluation.html.excerpts import Excerpt, given_excerpt, gold_excerpt, page_texts, readable
from finray.lab.evaluation.html.labels import ERROR_MEANINGS, ERROR_STYLES, share
from finray.lab.evaluation.html.svg import legend_mark
from finray.lab.evaluation.known_filings import KnownFilings
from finray.lab.evaluation.text_tables import NOTHING

_ANSWER_CHARACTERS = 1_500
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
"""Control characters, lone surrogates, and marks that change the direction of text."""


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """One run's answer to a question."""

    run: str
    answer: str
    error: str
    style: str
    page_recall: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One of the worst questions. ``gold`` and ``given`` are pages, None if there is none to show."""

    case: Case
    style: str
    meaning: str
    answers: tuple[RunAnswer, ...]
    gold: Excerpt | None
    given: Excerpt | None
    gold_pages: str
    missing: str
    """What is missing according to the run, unless its answer mentions it."""


def render(
    runs: Mapping[str, Analysis],
    known: KnownFilings,
    *,
    title: str,
    questions: str,
    reader: IndexReader | None = None,
    worst: int = 10,
) -> str:
    """The report on ``runs`` as HTML. It shows the first run's worst questions with their pages; ``reader``, if given,
    supplies the whole text of the pages. ``questions`` names the question file."""
    runs = {_UNPRINTABLE.sub("?", name): analysis for name, analysis in runs.items()}
    first = next(iter(runs.values()))
    cases = worst_cases(first.cases, worst)
    texts = page_texts(cases, known, reader)
    dimensions = [tables.grouped(runs, dimension) for dimension in ("question type", "form", "company")]
    context: dict[str, Any] = {
        "title": title,
        "questions": questions,
        "runs": [{"name": name, "mark": legend_mark(number)} for number, name in enumerate(runs)],
        "n": first.evaluation.questions,
        "key_figures": tables.key_figures(first),
        "summary": tables.summary(runs),
        "differences": tables.differences(runs),
        "facts": tables.facts(runs),
        "over_k": charts.curves_over_k(runs),
        "over_iterations": charts.curves_over_iterations(runs),
        "errors": charts.error_splits(runs),
        "error_meanings": ERROR_MEANINGS,
        "levels": charts.level_splits(runs),
        "groups": [group for group in dimensions if group],
        "calibration": charts.calibration_figure(runs),
        "latency": charts.latency_figure(runs),
        "worst": [_shown(case, runs, texts, known) for case in cases],
        "wrong": sum(case.error not in ("right", "not judged") for case in first.cases),
        "remarks": _remarks(runs),
        "style": Markup(resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8")),
    }
    return _environment().get_template("report.html.j2").render(context)


def _remarks(runs: Mapping[str, Analysis]) -> list[tuple[str, str]]:
    """(runs, remark), each distinct remark once."""
    runs_with: dict[str, list[str]] = {}
    for name, analysis in runs.items():
        for remark in analysis.evaluation.remarks:
            runs_with.setdefault(remark, []).append(name)
    return [("all" if len(names) == len(runs) else ", ".join(names), remark) for remark, names in runs_with.items()]


def _shown(case: Case, runs: Mapping[str, Analysis], texts: Mapping[PageKey, str], known: KnownFilings) -> Shown:
    return Shown(
        case=case,
        style=ERROR_STYLES[case.error],
        meaning=ERROR_MEANINGS[case.error],
        answers=tuple(_answer(name, other) for name, other in _cases_of(case.question.qid, runs)),
        gold=gold_excerpt(case, texts, known),
        given=given_excerpt(case, texts),
        gold_pages=_pages(case),
        missing="; ".join(part for part in case.prediction.missing if part not in case.prediction.answer),
    )


def _cases_of(qid: str, runs: Mapping[str, Analysis]) -> list[tuple[str, Case]]:
    return [(name, other) for name, analysis in runs.items() for other in analysis.cases if other.question.qid == qid]


def _answer(run: str, case: Case) -> RunAnswer:
    prediction = case.prediction
    answer = (prediction.error if prediction.status == "error" else prediction.answer) or NOTHING
    return RunAnswer(run, answer, case.error, ERROR_STYLES[case.error], share(case.scores.get("page_recall@5")))


def _pages(case: Case) -> str:
    by_document: dict[str, list[int]] = {}
    for gold in case.question.evidence:
        by_document.setdefault(gold.doc_name, []).extend(page + 1 for page in gold.pages[:1])
    return "; ".join(f"{name}, {_numbered(pages)}" if pages else name for name, pages in by_document.items())


def _numbered(pages: Sequence[int]) -> str:
    distinct = sorted(set(pages))
    return ("p. " if len(distinct) == 1 else "pp. ") + ", ".join(map(str, distinct))


def _plain(value: object) -> object:
    """A template value; text loses characters that a page cannot show or that would rearrange it."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value) if type(value) is str else value


def _cut(text: str, limit: int = _ANSWER_CHARACTERS) -> str:
    return text if len(text) <= limit else text[:limit].rstrip() + " …"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("finray.lab.evaluation", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cut"] = _cut
    environment.filters["readable"] = readable
    return environment

"""Compares all retrieval methods over one index, with and without titles before the chunks.

Routing to a filing by cover facts deserves a fair opponent: a flat store whose chunks begin with company, form and
period (``+title``). A method whose model, package or server is missing is a gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final

from finray.core.errors import SettingsError, UsageError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.lab.comparison import RETRIEVAL_ONLY, Contender
from finray.lab.evaluation.evaluate import Evaluation, compare, evaluate
from finray.lab.evaluation.numbers import squeezed
from finray.lab.tables.paper_table import Cell, Gap, PaperTable, Row
from finray.lab.tables.request import Progress, Request
from finray.lab.tables.runs import Runs, read_all
from finray.retrieval.methods.registry import METHODS

NUMBERS: Final = ("1", "2")
REFERENCE: Final = "finray"
_METRICS: Final = {"document_recall@1": "filing R@1", "page_recall@5": "page R@5"}


@dataclass(frozen=True, slots=True)
class _Found:
    """``runs`` by name of the question set; ``pooled`` is over the questions of all sets without a gap, None if every
    set has one."""

    runs: Mapping[str, Evaluation | Gap]
    pooled: Evaluation | None


def tables(request: Request, progress: Progress) -> list[PaperTable]:
    """Table 1: recall, latency and tokens of each method on each question file. Table 2: the paired differences to
    ``finray``. Raises UsageError if two question files have one name."""
    sets = {PurePosixPath(uri).stem: read_all([uri]) for uri in request.questions}
    if len(sets) < len(request.questions):
        raise UsageError("two question files have the same name, which heads their columns; rename one")
    with Runs(request.index, request.out, progress) as runs:
        found = {each.label: _evaluated(each, sets, runs) for each in _contenders(request)}
    return [_values(found, sets), _differences(found, sets)]


def _contenders(request: Request) -> Iterator[Contender]:
    """Every method that retrieves, each with titles too if it can have them."""
    for name, method in METHODS.items():
        if method.answers != "only":
            yield _contender(name, request)
            if method.titles is not None:
                yield _contender(f"{name}+title", request)


def _contender(label: str, request: Request) -> Contender:
    chosen: dict[str, Any] = {**RETRIEVAL_ONLY, **request.overrides, "retrieval.method": label}
    settings = load_settings(request.preset, chosen)
    if label == "fingear" and not settings.passage_reranker.model:  # its ablation instead of a gap
        settings = load_settings(request.preset, {**chosen, "methods.fingear.rerank": False})
        label = "fingear (no reranker)"
    return Contender(label, settings)


def _evaluated(contender: Contender, sets: Mapping[str, Sequence[Question]], runs: Runs) -> _Found:
    result: dict[str, Evaluation | Gap] = {}
    everything: list[tuple[Sequence[Prediction], Sequence[Question]]] = []
    for name, questions in sets.items():
        try:
            found = runs.predictions(f"{name}-{contender.label}", contender.settings, questions)
        except SettingsError as error:  # no reranker or encoder is named
            found = Gap(squeezed(str(error)))
        if isinstance(found, Gap):
            result[name] = found
        else:
            result[name] = evaluate(found, questions)
            everything.append((found, questions))
    return _Found(result, _pooled(everything))


def _pooled(sets: Sequence[tuple[Sequence[Prediction], Sequence[Question]]]) -> Evaluation | None:
    """The evaluation over all sets. Ids get the number of their set, because two sets may share a question."""
    if not sets:
        return None
    found = [replace(one, qid=f"{number} {one.qid}") for number, (some, _) in enumerate(sets) for one in some]
    asked = [replace(one, qid=f"{number} {one.qid}") for number, (_, some) in enumerate(sets) for one in some]
    return evaluate(found, asked)


def _values(found: Mapping[str, _Found], sets: Mapping[str, Sequence[Question]]) -> PaperTable:
    rows = [
        Row(label, [*(_metric(each.runs[name], metric) for name in sets for metric in _METRICS), *_cost(each.pooled)])
        for label, each in found.items()
    ]
    title = "all methods over one index; " + ", ".join(f"{name} n = {len(asked)}" for name, asked in sets.items())
    return PaperTable("1", title, [*_heads(sets), "p50 ms", "p95 ms", "tokens"], rows)


def _metric(run: Evaluation | Gap, metric: str) -> Cell:
    return run if isinstance(run, Gap) else run.metrics.get(metric)


def _cost(run: Evaluation | None) -> list[Cell]:
    """Milliseconds (p50, p95) and LLM tokens for each question."""
    if run is None:
        return [None, None, None]
    tokens = sum(each.prompt_tokens + each.completion_tokens for each in run.usage.values()) / (run.questions or 1)
    p50, p95 = (None if each is None else f"{each * 1000:.0f}" for each in (run.latency.p50, run.latency.p95))
    return [p50, p95, f"{tokens:,.0f}"]


def _differences(found: Mapping[str, _Found], sets: Mapping[str, Sequence[Question]]) -> PaperTable:
    reference = found[REFERENCE]
    rows = [
        Row(label, [_difference(each.runs[name], reference.runs[name], metric) for name in sets for metric in _METRICS])
        for label, each in found.items()
        if label != REFERENCE
    ]
    return PaperTable("2", f"difference to {REFERENCE}, paired over the same questions", _heads(sets), rows)


def _heads(sets: Mapping[str, Sequence[Question]]) -> list[str]:
    return [f"{name} {head}" for name in sets for head in _METRICS.values()]


def _difference(run: Evaluation | Gap, reference: Evaluation | Gap, metric: str) -> Cell:
    if isinstance(run, Gap):
        return run
    return reference if isinstance(reference, Gap) else compare(run, reference).get(metric)

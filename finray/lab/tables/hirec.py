"""The tables of Choe et al., "Hierarchical Retrieval with Evidence Curation for Open-Domain Financial Question
Answering on Standardized Documents" (arXiv 2505.20368): 2 to 6 and 9 to 11.

``question_type``, else the gold answer, assigns a question to one of LOFin's parts, and ``source`` to its source.
Recall, precision and k are those of the passages that the answerer was given. Without a language model, answers are
gaps, but methods that retrieve without one are still measured. docs/systems/lofin.md explains the choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Final, Literal

from finray.core.bootstrap import Estimate, estimate
from finray.core.errors import SettingsError
from finray.core.predictions import Prediction, TokenUsage
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation.evaluate import Scores, score
from finray.lab.evaluation.metrics import is_textual, numeric_reference
from finray.lab.tables import hirec_published as published
from finray.lab.tables.paper_table import Cell, Gap, PaperTable, Row
from finray.lab.tables.request import Progress, Request
from finray.lab.tables.runs import Runs, failure_notes, read_all

NUMBERS: Final = ("2", "3", "4", "5", "6", "9", "10", "11")
PARTS: Final = {"numeric_table": "Numeric (Table)", "numeric_text": "Numeric (Text)", "textual": "Textual"}
SOURCES: Final = {"financebench": "FinanceBench", "finqa": "FinQA", "secqa": "SEC-QA"}
RECALL, PRECISION, K, ACCURACY = "context_page_recall", "context_page_precision", "context_passages", "accuracy"
GPT_4O_PRICES: Final = (2.5, 10.0)
"""Dollars for a million tokens read and written; the paper computes its costs with them."""

_LOOP: Final = {"loop.transform": "hirec", "loop.curator": "hirec", "loop.answerer": "hirec"}
_RETRIEVED: Final = {"loop.transform": "none", "loop.curate": False, "loop.answerer": "hirec"}
_OWN_ANSWERS: Final = {"loop.transform": "none", "loop.curate": False, "loop.answerer": "method"}
_HIREC: Final[Mapping[str, Any]] = {
    **_LOOP, "retrieval.method": "hirec", "retrieval.k_candidates": 100, "retrieval.k_documents": 5,
    "retrieval.k_passages": 5, "loop.i_max": 3, "loop.max_kept": 10,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Method:
    """A row: its settings over those of the request. ``absent`` says why nothing can run it. ``given`` is what k
    counts: passages, or whole pages; None if the method retrieves nothing."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    absent: str = ""
    given: Literal["passages", "pages"] | None = "passages"


def _flat(method: str, k: int = 10, **own: Any) -> Method:
    return Method({**_RETRIEVED, "retrieval.method": method, "retrieval.k_passages": k, **own})


def _answering(method: str, k: int = 10) -> Method:
    return Method({**_OWN_ANSWERS, "retrieval.method": method, "retrieval.k_passages": k})


_DENSE: Final = {"retrieval.method": "dense+title+rerank", "methods.rerank.candidates": 50, "retrieval.k_passages": 10}
_IRCOT: Final = {"methods.ircot.steps": 3, "methods.ircot.step_passages": 5, "methods.ircot.paragraphs": 20}
_ALL_CHUNKS: Final = 1_000
"""More than the gold pages of a question have."""


METHODS: Final[Mapping[str, Method]] = {
    "Zero-shot": replace(_answering("zero_shot"), given=None),
    "Perplexity": Method(absent="Perplexity is a commercial service with web search: there is nothing to run here"),
    "Self-RAG": _answering("self_rag_prompted+title"),
    "RQ-RAG": _answering("rq_rag_prompted+title", 36),
    "IRCoT": _flat("ircot+title", 20, **_IRCOT),
    "HybridSearch": _flat("hybrid_search+title"),
    "HHR": _flat("hhr+title", **{"retrieval.k_documents": 5}),
    "Dense": Method({**_RETRIEVED, **_DENSE}),
    "HiREC": Method(_HIREC),
    "Gold evidence": replace(_flat("bm25", _ALL_CHUNKS, **{"retrieval.oracle": "page"}), given="pages"),
}
"""The rows of table 2, with the baselines' settings of appendix C.2 and titles before all passages (section 5.1)."""
OWN: Final = "finray, as the preset sets it"
_ALL: Final[Mapping[str, Method]] = {**METHODS, OWN: Method()}

_ABLATIONS: Final[Mapping[str, Method]] = {
    "HiREC": METHODS["HiREC"],
    "w/o HR": Method({**_HIREC, **_DENSE, "loop.transform": "none"}),
    "w/o EC": Method({**_HIREC, "loop.curate": False, "retrieval.k_passages": 10}),
    "w/o Fine-tuning": Method({**_HIREC, "passage_reranker.model": "", "passage_reranker.revision": ""}),
    "w/o Filter": Method({**_HIREC, "loop.filter": False}),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run: ``scores`` by qid; ``no_answers`` is why nothing was answered, ``no_judge`` why textual answers were not
    judged."""

    predictions: Mapping[str, Prediction]
    scores: Mapping[str, Scores]
    no_answers: Gap | None = None
    no_judge: Gap | None = None


@dataclass(slots=True)
class Experiment:
    """One question set over one index; each run is done once."""

    request: Request
    questions: Sequence[Question]
    runs: Runs
    notes: list[str] = field(default_factory=list)
    _done: dict[str, Outcome | Gap] = field(default_factory=dict)

    def run(self, label: str, method: Method | None = None) -> Outcome | Gap:
        """The run of a row of table 2, or of ``method`` under its own ``label``."""
        if label not in self._done:
            self._done[label] = self._run(label, method or _ALL[label])
        return self._done[label]

    def settings(self, own: Mapping[str, Any]) -> Settings:
        return load_settings(self.request.preset, {**self.request.overrides, **own})

    def _run(self, label: str, method: Method) -> Outcome | Gap:
        if method.absent:
            return Gap(method.absent)
        try:
            found = self._predicted(label, method)
            if not isinstance(found, Gap):
                return self._scored(label, method, found)
            return self._retrieved(label, method, found)
        except SettingsError as error:  # a method, reranker or model is missing
            return Gap(str(error))

    def _predicted(self, label: str, method: Method) -> Sequence[Prediction] | Gap:
        """The predictions; HiREC's generator writes a program for the numeric parts and a chain of thought for the
        textual one (section 4.3), unless the request sets ``loop.generation``."""
        settings = self.settings(method.settings)
        if settings.loop.answerer != "hirec" or settings.loop.generation != "auto":
            return self.runs.predictions(label, settings, self.questions)
        found: list[Prediction] = []
        for generation, textual in (("program", False), ("chain", True)):
            group = [question for question in self.questions if (part_of(question) == "textual") == textual]
            own = self.settings({**method.settings, "loop.generation": generation})
            part = self.runs.predictions(f"{label}-{generation}", own, group) if group else ()
            if isinstance(part, Gap):
                return part
            found += part
        return found

    def _retrieved(self, label: str, method: Method, gap: Gap) -> Outcome | Gap:
        """The first retrieval alone, if it needs no language model: its passages are those an answerer would get."""
        curates = self.settings(method.settings).loop.curate
        if curates or method.settings.get("loop.answerer") == "method":
            return gap
        settings = self.settings({**method.settings, "loop.answerer": "none"})
        found = self.runs.predictions(f"{label}, retrieval", settings, self.questions)
        return gap if isinstance(found, Gap) else self._scored(label, method, found, gap)

    def _scored(
        self, label: str, method: Method, found: Sequence[Prediction], no_answers: Gap | None = None
    ) -> Outcome | Gap:
        failures = failure_notes(label, found)
        if isinstance(failures, Gap):
            return failures
        self.notes += failures
        by_qid = {prediction.qid: prediction for prediction in found}
        pairs = [(question, by_qid[question.qid]) for question in self.questions if question.qid in by_qid]
        judge = Gap("") if no_answers else self.runs.judge(pairs, self.settings(method.settings))
        no_judge = judge if isinstance(judge, Gap) else None
        scores = {}
        for question, prediction in pairs:
            own = dict(score(question, prediction, None if isinstance(judge, Gap) else judge))
            if method.given is None:
                own = {name: value for name, value in own.items() if name not in (RECALL, PRECISION, K)}
            if method.given == "pages" and K in own:
                own[K] = float(len({(passage.filing_id, passage.page) for passage in prediction.context}))
            accuracy = own.get("numeric_accuracy", own.get("textual_accuracy"))
            scores[question.qid] = own | ({} if accuracy is None else {ACCURACY: accuracy})
        return Outcome(by_qid, scores, no_answers, no_judge)


def tables(request: Request, progress: Progress) -> list[PaperTable]:
    """The tables that are asked for. Raises UsageError, IndexMissingError, and IndexMismatchError if the index was
    built with other settings."""
    questions = read_all(request.questions)
    settings = load_settings(request.preset, request.overrides)
    IndexReader.open(request.index, settings)
    with Runs(request.index, request.out, progress) as runs:
        experiment = Experiment(request, questions, runs)
        made = [build(experiment) for number, build in _BUILD.items() if request.wants(number)]
    parts = ", ".join(f"{name} {sum(part_of(q) == part for q in questions)}" for part, name in PARTS.items())
    sources = ", ".join(f"{name} {sum(q.source == source for q in questions)}" for source, name in SOURCES.items())
    notes = (*experiment.notes, f"n = {len(questions)}: {parts}; {sources}", _models(settings))
    return [replace(table, notes=(*table.notes, *notes)) for table in made]


def part_of(question: Question) -> str:
    """LOFin's part: the question's type if it is one, else by whether the gold answer is a number."""
    if question.question_type in PARTS:
        return question.question_type
    return "textual" if numeric_reference(question) is None else "numeric_table"


def _table_2(experiment: Experiment) -> PaperTable:
    rows = [
        Row(
            label,
            [*_by_part(experiment, label, (RECALL, ACCURACY)), _mean(experiment, label, K)],
            _shares(figures, last=1),
        )
        for label, figures in {**published.MAIN, OWN: ()}.items()
    ]
    heads = [f"{name} {what}" for name in (*PARTS.values(), "Average") for what in ("page recall", "accuracy")]
    return PaperTable("2", "main results", (*heads, "k"), rows, [_AVERAGE])


def _table_3(experiment: Experiment) -> PaperTable:
    rows = []
    for label, method in _ABLATIONS.items():
        if label == "w/o Fine-tuning":
            method = _untuned(experiment)
        experiment.run(label, method)
        average = _by_part(experiment, label, (PRECISION, RECALL, ACCURACY))[-3:]
        rows.append(Row(label, average, _shares(published.ABLATIONS[label])))
    return PaperTable("3", "ablation study", ("page precision", "page recall", "accuracy"), rows, [_AVERAGE])


def _untuned(experiment: Experiment) -> Method:
    """HiREC with the reranker of filings, which is not fine-tuned, for passages too."""
    settings = experiment.settings({})
    model, revision = settings.document_reranker.model, settings.document_reranker.revision
    if model and model == settings.passage_reranker.model:
        return Method(absent="no fine-tuned reranker: passage_reranker.model is the untrained one, as in the first row")
    return Method({**_HIREC, "passage_reranker.model": model, "passage_reranker.revision": revision})


def _table_4(experiment: Experiment) -> PaperTable:
    rows = []
    for label, figures in published.COST.items():
        dollars = sum(figures[at] or 0.0 for at in (2, 3, 6, 7)) / published.COST_QUESTIONS
        rows.append(Row(label, _cost(experiment.run(label)), (*figures, f"{dollars:.4f}")))
    heads = [
        f"{stage} {what}" for stage in ("retrieval", "generation") for what in ("tokens in", "out", "$ in", "$ out")
    ] + ["$ a question"]
    notes = [
        "tokens of a question; $ in and out for all questions, at GPT-4o's prices of the paper "
        "($2.5 and $10 a million)",
        f"published dollars: for {published.COST_QUESTIONS:,} questions; $ a question is computed from them",
    ]
    return PaperTable("4", "cost", heads, rows, notes)


def _cost(outcome: Outcome | Gap) -> list[Cell]:
    gap = outcome if isinstance(outcome, Gap) else outcome.no_answers
    if isinstance(outcome, Gap) or gap is not None:
        return [gap] * 9
    spent = {"retrieval": TokenUsage(), "generation": TokenUsage()}
    for prediction in outcome.predictions.values():
        for stage, usage in prediction.usage.items():
            spent["generation" if stage == "answer" else "retrieval"] += usage
    n = max(len(outcome.predictions), 1)
    cells: list[Cell] = []
    total = 0.0
    for usage in spent.values():
        tokens = (usage.prompt_tokens, usage.completion_tokens)
        dollars = [each * price / 1e6 for each, price in zip(tokens, GPT_4O_PRICES, strict=True)]
        cells += [*(f"{each / n:,.0f}" for each in tokens), *dollars]
        total += sum(dollars)
    return [*cells, f"{total / n:.4f}"]


def _table_5(experiment: Experiment) -> PaperTable:
    settings = experiment.settings({})
    model = settings.generator.model.rpartition("/")[2]
    rows = []
    for (label, generator), figures in published.GENERATORS.items():
        if model.lower().startswith(published.GENERATOR_NAMES[generator]):
            cells = _by_part(experiment, label, (ACCURACY,))
        else:
            cells = [Gap(f"the generator here is {model!r}: run again with {generator}")] * 4
        rows.append(Row(f"{label} + {generator}", cells, _shares(figures)))
    note = "published 26.18 for Dense + GPT-4o, Numeric (Text), is a slip: table 2 has 32.97, which fits the average"
    return PaperTable("5", "generators", (*PARTS.values(), "Average"), rows, [_AVERAGE, note])


def _table_6(experiment: Experiment) -> PaperTable:
    rows = [
        Row(label, _by_source(experiment, label, (RECALL, ACCURACY)), _shares(figures))
        for label, figures in {**published.BY_SOURCE, OWN: ()}.items()
    ]
    heads = [f"{name} {what}" for name in SOURCES.values() for what in ("page recall", "accuracy")]
    return PaperTable("6", "by data source", heads, rows)


def _table_9(experiment: Experiment) -> PaperTable:
    questions = experiment.questions
    rows = []
    for source, (count, share) in published.DISTRIBUTION.items():
        own = sum(question.source == source for question in questions)
        rows.append(Row(SOURCES[source], (str(own), own / len(questions)), (str(count), share / 100)))
    other = sum(question.source not in SOURCES for question in questions)
    rows += [Row("other", (str(other), other / len(questions)))] if other else []
    rows.append(Row("Total", (str(len(questions)), 1.0), ("1595", 1.0)))
    return PaperTable("9", "questions by data source", ("questions", "share"), rows)


def _table_10(experiment: Experiment) -> PaperTable:
    rows = [
        Row(label, _by_part(experiment, label, (PRECISION, RECALL, ACCURACY)), _shares(figures))
        for label, figures in {**published.EXPANDED_BY_PART, OWN: ()}.items()
    ]
    heads = [f"{n} {w}" for n in (*PARTS.values(), "Average") for w in ("precision", "recall", "accuracy")]
    return PaperTable("10", "expanded benchmark by answer type", heads, rows, [_AVERAGE])


def _table_11(experiment: Experiment) -> PaperTable:
    metrics = (PRECISION, RECALL, ACCURACY)
    rows = []
    for label, figures in {**published.EXPANDED_BY_SOURCE, OWN: ()}.items():
        cells = _by_source(experiment, label, metrics)
        rows.append(Row(label, [*cells, *_averages(cells, len(metrics))], _shares(figures)))
    heads = [f"{n} {w}" for n in (*SOURCES.values(), "Average") for w in ("precision", "recall", "accuracy")]
    note = "published average accuracies are 25.00 and 33.63, although the means of the row are 25.32 and 33.87"
    return PaperTable("11", "expanded benchmark by data source", heads, rows, [_AVERAGE, note])


_AVERAGE: Final = "averages are unweighted means over the groups, as in the paper, so they have no interval"
_BUILD: Final[Mapping[str, Callable[[Experiment], PaperTable]]] = dict(
    zip(
        NUMBERS,
        (_table_2, _table_3, _table_4, _table_5, _table_6, _table_9, _table_10, _table_11),
        strict=True,
    )
)


def _by_part(experiment: Experiment, label: str, metrics: Sequence[str]) -> list[Cell]:
    """Each metric for each part, then the means over the parts."""
    groups = [[q for q in experiment.questions if part_of(q) == part] for part in PARTS]
    cells = [_mean(experiment, label, metric, group) for group in groups for metric in metrics]
    return [*cells, *_averages(cells, len(metrics))]


def _by_source(experiment: Experiment, label: str, metrics: Sequence[str]) -> list[Cell]:
    groups = [[q for q in experiment.questions if q.source == source] for source in SOURCES]
    return [_mean(experiment, label, metric, group) for group in groups for metric in metrics]


def _averages(cells: Sequence[Cell], metrics: int) -> list[Cell]:
    """The mean of each metric over the groups that have one; a gap if any group has one."""
    means: list[Cell] = []
    for at in range(metrics):
        own = cells[at::metrics]
        values = [cell.value for cell in own if isinstance(cell, Estimate) and cell.value is not None]
        gap = next((cell for cell in own if isinstance(cell, Gap)), None)
        means.append(gap or (fmean(values) if values else None))
    return means


def _mean(experiment: Experiment, label: str, metric: str, group: Iterable[Question] | None = None) -> Cell:
    """The mean of ``metric`` over the questions of ``group`` to which it applies; None if there are none."""
    outcome = experiment.run(label)
    if isinstance(outcome, Gap):
        return outcome
    asked = [q for q in (experiment.questions if group is None else group) if q.qid in outcome.scores]
    if metric == ACCURACY and asked and outcome.no_answers:
        return outcome.no_answers
    if metric == ACCURACY and outcome.no_judge is not None and any(map(is_textual, asked)):
        return Gap(f"textual answers are judged by a language model, and there is none: {outcome.no_judge.reason}")
    values = [outcome.scores[q.qid][metric] for q in asked if metric in outcome.scores[q.qid]]
    return estimate(values) if values else None


def _shares(figures: Sequence[float | None], last: int = 0) -> tuple[float | None, ...]:
    """Percent as shares; the ``last`` figures are not percentages."""
    kept = len(figures) - last
    return tuple(f if f is None or at >= kept else f / 100 for at, f in enumerate(figures))


def _models(settings: Settings) -> str:
    return (
        f"models here: encoder {settings.encoder.model}, rerankers {settings.document_reranker.model or 'none'} and "
        f"{settings.passage_reranker.model or 'none'}, language model {settings.llm.model}, answers and verdicts by "
        f"{settings.generator.model}; published: multilingual-e5-large, DeBERTa-v3 (passages: fine-tuned on FinQA), "
        "Qwen2.5-7B-Instruct, answers and verdicts by GPT-4o, baselines with text-embedding-3-small"
    )

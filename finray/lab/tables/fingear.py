"""The tables of Li et al., "FinGEAR: Financial Mapping-Guided Enhanced Answer Retrieval" (arXiv 2509.12042).

docs/systems/fingear.md lists what stands in for the paper's models and data. Precision, recall and relevancy come from
``finray.lab.evaluation.context``: by rules, and judged by a language model if one answers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any, Final

from finray.core.bootstrap import estimate
from finray.core.errors import ModelError, SettingsError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings
from finray.lab.evaluation.context import ContextScores, context_quality, rule_scores
from finray.lab.evaluation.evaluate import score
from finray.lab.evaluation.judging.context_judge import judge_context
from finray.lab.evaluation.numbers import squeezed
from finray.lab.evaluation.question_kinds import answer_kind, complexity, yes_or_no
from finray.lab.tables import fingear_published as published
from finray.lab.tables.fingear_published import System, Variants
from finray.lab.tables.fingear_trees import CHARACTERS_PER_TOKEN, DOLLARS, tree_statistics
from finray.lab.tables.paper_table import Cell, Gap, PaperTable, Row
from finray.lab.tables.request import Progress, Request
from finray.lab.tables.runs import Runs, read_all
from finray.models.load_chat import load_chat

NUMBERS: Final = ("1", "2", "3", "4", "5", "6", "8", "9", "10")
DEPTHS: Final = (5, 10, 15)
"""k of the paper."""
_QUALITY: Final = ("precision", "recall", "F1", "relevancy")
_HEADS: Final = tuple(f"{name} k={k}" for name in _QUALITY for k in DEPTHS)
_RETRIEVE: Final[Mapping[str, Any]] = {"loop.curate": False, "loop.answerer": "none"}
_ANSWER: Final[Mapping[str, Any]] = {"loop.curate": False, "loop.answerer": "plain"}
_POOLS: Final[Mapping[str, Mapping[str, Any]]] = {"": {}, ", in the gold filing": {"retrieval.oracle": "document"}}
"""The paper does not say how a filing is found: once by each system's own means, once given."""
_Found = tuple[Prediction, ...] | Gap


@dataclass
class _Experiment:
    """The questions over the index, with each run done once."""

    request: Request
    settings: Settings
    questions: Sequence[Question]
    runs: Runs
    judge: Gap | None
    """Why no language model judges; None if one does."""
    _judged: dict[tuple[str, str], ContextScores | None] = field(default_factory=dict)
    _unjudged: Counter[bool] = field(default_factory=Counter)

    @cached_property
    def trees(self) -> dict[str, list[float]] | Gap:
        return tree_statistics(self.request.index, self.settings)

    @property
    def reranked(self) -> bool:
        return bool(self.settings.passage_reranker.model)

    def fingear(self, k: int, own: Mapping[str, Any] = {}) -> _Found:
        """FinGEAR with its ``own`` parameters."""
        return self.run("fingear", k, {f"methods.fingear.{name}": value for name, value in own.items()})

    def system(self, system: System, k: int, own: Mapping[str, Any] = {}, *, answers: bool = False) -> _Found:
        if not system.method:
            return Gap(f"there is no retrieval method for {system.label}")
        return self.run(system.method, k, {**system.own, **own}, answers=answers)

    def run(self, method: str, k: int, own: Mapping[str, Any] = {}, *, answers: bool = False) -> _Found:
        """The method at depth ``k`` with its ``own`` settings; FinGEAR without its reranker if there is none."""
        if method == "fingear" and not self.reranked:
            own = {"methods.fingear.rerank": False, **own}
        overrides = {
            **(_ANSWER if answers else _RETRIEVE),
            "retrieval.method": method,
            "retrieval.k_passages": k,
            **own,
        }
        shown = [f"{name.rpartition('.')[2]}={value}" for name, value in own.items()]
        label = "-".join([method, f"k={k}", *shown, *["answers"] * answers])
        try:
            settings = load_settings(self.request.preset, {**self.request.overrides, **overrides})
            return self.runs.predictions(label, settings, self.questions)
        except SettingsError as error:
            return Gap(str(error))

    def cells(self, found: Sequence[_Found], *, judged: bool, only: set[str] | None = None) -> list[Cell]:
        """Precision, recall, F1 and relevancy at each depth, in the order of ``_HEADS``."""
        columns = [self._quality(one, judged, only) for one in found]
        return [column[at] for at in range(len(_QUALITY)) for column in columns]

    def _quality(self, found: _Found, judged: bool, only: set[str] | None) -> list[Cell]:
        if isinstance(found, Gap):
            return [found] * len(_QUALITY)
        by_qid = {question.qid: question for question in self.questions if only is None or question.qid in only}
        pairs = [(by_qid[prediction.qid], prediction) for prediction in found if prediction.qid in by_qid]
        if not pairs:
            return [None] * len(_QUALITY)
        try:
            scores = asyncio.run(self._judge(pairs)) if judged else [rule_scores(q, p.passages) for q, p in pairs]
        except ModelError as error:
            return [Gap(f"the judge failed: {squeezed(str(error))}")] * len(_QUALITY)
        quality = context_quality(scores)
        return [quality.precision, quality.recall, quality.f1, quality.relevancy]

    async def _judge(self, pairs: Sequence[tuple[Question, Prediction]]) -> list[ContextScores]:
        chat, slots = load_chat(self.settings.llm), asyncio.Semaphore(self.settings.llm.in_flight)

        async def one(question: Question, prediction: Prediction) -> ContextScores | None:
            key = (question.qid, repr([(p.filing_id, p.page, p.start) for p in prediction.passages]))
            if key not in self._judged:
                async with slots:
                    self._judged[key], _ = await judge_context(chat, question, prediction.passages)
            return self._judged[key]

        judged = await asyncio.gather(*(one(*pair) for pair in pairs))
        self._unjudged.update(scores is None for scores in judged)
        return [scores for scores in judged if scores is not None]

    def unjudged(self) -> list[str]:
        """A remark if replies of the judge could not be used since the last call."""
        missing, total = self._unjudged[True], self._unjudged.total()
        self._unjudged.clear()
        return [f"{missing} of {total} lists of passages unjudged: twice no usable reply"] if missing else []

    def rows(
        self, label: str, found: Sequence[_Found], reported: Sequence[float], only: set[str] | None = None
    ) -> list[Row]:
        """A row by rules, and one that a model judged, beside the published figures, which a model judged."""
        by_rules = Row(f"{label}, by rules", self.cells(found, judged=False, only=only))
        if self.judge is not None:
            return [Row(by_rules.label, by_rules.cells, reported)]
        return [by_rules, Row(f"{label}, judged", self.cells(found, judged=True, only=only), reported)]


def tables(request: Request, progress: Progress) -> list[PaperTable]:
    """The tables that are asked for. Raises UsageError, IndexMissingError."""
    questions = read_all(request.questions)
    settings = load_settings(request.preset, request.overrides)
    with Runs(request.index, request.out, progress) as runs:
        experiment = _Experiment(request, settings, questions, runs, runs.no_llm(settings.llm))
        return [build(experiment) for number, build in _BUILD.items() if request.wants(number)]


def _table(experiment: _Experiment, number: str, title: str, rows: Sequence[Row], *notes: str) -> PaperTable:
    remarks = [*_notes(experiment), *notes, *experiment.unjudged()]
    return PaperTable(number, f"{title}, n = {len(experiment.questions)}", _HEADS, rows, remarks)


def _notes(experiment: _Experiment) -> list[str]:
    chosen = experiment.settings
    nodes = f"nodes by {chosen.methods.fingear.writer}, {chosen.methods.fingear.reduction}"
    models = f"encoder {chosen.encoder.model}, reranker {chosen.passage_reranker.model or 'none'}, {nodes}"
    notes = [f"models: {models}", "by rules: gold pages for precision and recall, words of the question for relevancy"]
    if not experiment.reranked:
        notes.append("every FinGEAR row is without a reranker, because passage_reranker.model names none")
    if experiment.judge is not None:
        notes.append(f"nothing is judged: {experiment.judge.reason}")
    return notes


def _table_1(experiment: _Experiment) -> PaperTable:
    rows, counts = [], []
    for pool, given in _POOLS.items():
        for system in published.SYSTEMS:
            found = [experiment.system(system, k, given) for k in DEPTHS]
            missing = " (no reranker)" if system.method == "fingear" and not experiment.reranked else ""
            rows += experiment.rows(f"{system.label}{missing}{pool}", found, system.quality)
            means = [f"{fmean(len(p.passages) for p in one):.1f}" for one in found if not isinstance(one, Gap) and one]
            counts += [f"{system.label}{pool} {', '.join(means)}"] if means else []
    chosen = experiment.settings
    unit = f"chunks of {chosen.chunks.size:,} {chosen.chunks.unit}"
    leaves = {"pages": "whole pages", "chunks": unit}
    methods = chosen.methods
    return _table(
        experiment,
        "1",
        "retrieval of each system",
        rows,
        f"a passage is: General RAG and Self-RAG {unit}, RAPTOR {leaves[methods.raptor.leaves]}, FinGEAR "
        f"{leaves[methods.fingear.leaves]}, LightRAG whole pages",
        f"FinGEAR searches {chosen.retrieval.k_documents} filings that the document stage of finray finds, the others "
        "all filings; in the gold filing every system searches that one",
        f"mean number of passages at k = {', '.join(map(str, DEPTHS))}: {'; '.join(counts)}",
    )


def _ablations(experiment: _Experiment, number: str, title: str, chosen: Variants) -> PaperTable:
    rows = []
    for label, own, reported in chosen:
        missing = "" if experiment.reranked or "rerank" in own else " (no reranker)"
        rows += experiment.rows(label + missing, [experiment.fingear(k, own) for k in DEPTHS], reported)
    return _table(experiment, number, title, rows)


def _table_2(experiment: _Experiment) -> PaperTable:
    return _ablations(experiment, "2", "ablations of single components", published.ABLATIONS)


def _table_4(experiment: _Experiment) -> PaperTable:
    chosen = [(label, {"weighting": name}, reported) for label, name, reported in published.WEIGHTINGS]
    return _ablations(experiment, "4", "weighting of the lexicon", chosen)


def _table_8(experiment: _Experiment) -> PaperTable:
    return _ablations(experiment, "8", "ablations of two components", published.PAIRS)


def _table_3(experiment: _Experiment) -> PaperTable:
    by_qid = {question.qid: question for question in experiment.questions}

    def mean(found: _Found) -> Cell:
        if isinstance(found, Gap):
            return found
        values = [accuracy(by_qid[prediction.qid], prediction) for prediction in found]
        known = [value for value in values if value is not None]
        return estimate(known) if known else Gap("no question has a number, yes or no as its gold answer")

    rows = [
        Row(system.label, [mean(experiment.system(system, k, answers=True)) for k in DEPTHS], system.accuracy)
        for system in published.SYSTEMS
    ]
    notes = [*_notes(experiment), "LOFin's numeric accuracy, or the same yes or no, of the questions with such answers"]
    return PaperTable("3", "answer accuracy with one reader", tuple(f"k={k}" for k in DEPTHS), rows, notes)


def accuracy(question: Question, prediction: Prediction) -> float | None:
    """1 for the right number, or the right yes or no; None for questions with other gold answers."""
    if wanted := yes_or_no(question.answer or ""):
        return float(prediction.status == "answered" and yes_or_no(prediction.answer) == wanted)
    return score(question, prediction).get("numeric_accuracy")


def _table_5(_: _Experiment) -> PaperTable:
    gap = Gap("it needs FinRAD, and encoders fine-tuned on it and on FinQA; no command here trains them")
    rows = [
        Row("FinRAD, Pearson cosine", [gap, gap], (0.1082, 0.4063)),
        Row("FinRAD, Spearman cosine", [gap, gap], (0.0904, 0.3655)),
        Row("FinQA, NDCG@10", [gap, gap], (0.0282, 0.2902)),
    ]
    return PaperTable("5", "fine-tuning of the encoders", ("baseline", "fine-tuned"), rows)


def _table_6(experiment: _Experiment) -> PaperTable:
    found = experiment.trees
    asked = {"Tokens per query": [len(q.question) / CHARACTERS_PER_TOKEN for q in experiment.questions]}
    rows = [
        Row(name, [found] * 3 if isinstance(found, Gap) else _spread((found | asked).get(name)), reported)
        for name, reported in published.STATISTICS.items()
    ]
    notes = [
        "of each filing, the queries of each question; the seconds are appendix K's clustering and summarization",
        f"a document is a chunk of the index, a token {CHARACTERS_PER_TOKEN} characters",
        *_notes(experiment)[:1],
    ]
    return PaperTable("6", "statistics of the trees", ("min", "mean", "max"), rows, notes)


def _spread(values: Sequence[float] | None) -> list[Cell]:
    return [min(values), fmean(values), max(values)] if values else [None] * 3


def _table_9(experiment: _Experiment) -> PaperTable:
    rows, every = [], list[float]()
    for k in DEPTHS:
        found = experiment.fingear(k)
        if not isinstance(found, Gap):
            every += [prediction.seconds for prediction in found]
        seconds = found if isinstance(found, Gap) else estimate([prediction.seconds for prediction in found])
        dollars = _dollars(experiment.run("fingear", k, answers=True))
        rows.append(Row(f"question, k={k}", [seconds, dollars], published.LATENCY[k]))
    rows.append(Row("question, average", [estimate(every), None], (published.MEAN_LATENCY, None)))
    trees = experiment.trees
    columns = ("Seconds of trees, one processor", DOLLARS)
    costs = [trees if isinstance(trees, Gap) else fmean(trees[name]) for name in columns]
    rows.append(Row("trees of a filing", costs, published.TREES))
    notes = [
        "seconds of a question to retrieve, dollars of 1,000 questions to retrieve and answer; seconds of trees on one "
        "processor, dollars of 1,000 filings; prices are those of llm",
        *_notes(experiment),
    ]
    return PaperTable("9", "time and cost", ("seconds", "dollars of 1,000"), rows, notes)


def _dollars(found: _Found) -> Cell:
    if isinstance(found, Gap):
        return found
    return estimate([1_000 * sum(usage.cost for usage in prediction.usage.values()) for prediction in found])


def _table_10(experiment: _Experiment) -> PaperTable:
    found = [experiment.fingear(k) for k in DEPTHS]
    rows = []
    for name, reported in published.TYPES.items():
        chosen = {q.qid for q in experiment.questions if name.lower() in (answer_kind(q), complexity(q))}
        rows += experiment.rows(f"{name} (n = {len(chosen)})", found, reported, chosen)
    return _table(experiment, "10", "by question type", rows)


_BUILD: Final[Mapping[str, Callable[[_Experiment], PaperTable]]] = dict(
    zip(
        NUMBERS,
        (_table_1, _table_2, _table_3, _table_4, _table_5, _table_6, _table_8, _table_9, _table_10),
        strict=True,
    )
)

"""The tables of Kobeissi and Langlais, "Decomposing Retrieval Failures in RAG for Long-Document Financial Question
Answering" (arXiv 2602.17981): 1 to 6 and figure 3 ("F3"), corpus-wide.

docs/systems/page-scorer.md lists what stands in for the paper's models and data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from finray.core.bootstrap import estimate
from finray.core.errors import SettingsError
from finray.core.forms import EARNINGS_RELEASE
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation.evaluate import NO_TYPE, Scores, score
from finray.lab.evaluation.generated import answer_rouge_l, number_set, number_sets_match
from finray.lab.evaluation.known_filings import KnownFilings
from finray.lab.tables.paper_table import Cell, Gap, PaperTable, Row
from finray.lab.tables.request import Progress, Request
from finray.lab.tables.runs import Runs, failure_notes, read_all
from finray.lab.training.fine_tuning.gain import model_records

NUMBERS: Final = ("1", "2", "3", "4", "5", "6", "F3")
K: Final = 5
_RETRIEVE: Final[Mapping[str, Any]] = {
    "loop.transform": "none",
    "loop.curate": False,
    "loop.answerer": "none",
    "retrieval.k_passages": K,
}
_ANSWER: Final[Mapping[str, Any]] = {**_RETRIEVE, "loop.answerer": "plain"}
_RETRIEVAL_HEADS: Final = {
    f"document_recall@{K}": f"DocRec@{K}",
    f"page_recall@{K}": f"PageRec@{K}",
    f"bleu@{K}": f"Max BLEU@{K}",
    f"rouge_l@{K}": f"Max ROUGE-L@{K}",
}
_FORMS: Final = {"10K": "10-K", "10Q": "10-Q", "8K": "8-K", "EC": EARNINGS_RELEASE}
"""The paper's "EC": earnings releases and calls."""
_P: Final = {5: (0.92, 0.48, 0.30, 0.44), 10: (0.95, 0.48, 0.31, 0.44), 20: (0.95, 0.55, 0.33, 0.46)}
_MORE_P: Final = (30, 40, 50)
LEARNED: Final = "Learned page scorer"
STRONGEST: Final = "multi_hyde+rerank"
_TABLE_3: Final = (
    ("Dense baseline", "dense", (0.88, 0.34, 0.26, 0.35)),
    ("BM25", "bm25", (0.32, 0.07, 0.04, 0.12)),
    ("SPLADE", "splade", (0.50, 0.16, 0.18, 0.29)),
    ("Hybrid fusion (BM25 + dense)", "rrf", (0.61, 0.23, 0.13, 0.27)),
    ("Parent-Child", "parent_child", (0.31, 0.13, 0.12, 0.22)),
    ("Query expansion (dense)", "dense+query_expansion", (0.68, 0.27, 0.08, 0.24)),
    ("Query expansion (BM25)", "query_expansion", (0.68, 0.27, 0.08, 0.24)),
    ("HyDE", "hyde", (0.86, 0.40, 0.25, 0.37)),
    ("Multi-HyDE", "multi_hyde", (0.85, 0.42, 0.27, 0.39)),
    ("Dense + ReRanker", "dense+rerank", (0.87, 0.41, 0.19, 0.34)),
    ("Dense + Multi-HyDE + ReRanker", STRONGEST, (0.93, 0.46, 0.28, 0.40)),
)
_TABLE_3_NOTES: Final = (
    "Parent-Child: children are the chunks of the index and parents their pages; the paper does not print its sizes. "
    "Chunks of 1,024 tokens are nearly pages, so that it comes close to the dense baseline",
    "Query expansion: the paper does not name its retriever; its one row is beside both",
)
_BEST_BASELINE: Final = _TABLE_3[-1][0]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A run of one row: its predictions by qid."""

    by_qid: Mapping[str, Prediction]
    scores: Mapping[str, Scores]


Outcome = _Asked | Gap


@dataclass
class _Experiment:
    """The question set over the index, with each run done once."""

    request: Request
    questions: Sequence[Question]
    known: KnownFilings
    runs: Runs
    notes: list[str] = field(default_factory=list)
    _done: dict[str, Outcome] = field(default_factory=dict)

    def settings(self, overrides: Mapping[str, Any]) -> Settings:
        return load_settings(self.request.preset, {**self.request.overrides, **overrides})

    def run(self, method: str, own: Mapping[str, Any] = {}, *, answers: bool = False) -> Outcome:
        """``method`` with its ``own`` settings, on all questions."""
        overrides = {"retrieval.method": method, **own}
        label = _label(overrides, answers)
        return self._once(label, lambda: self._ask(label, overrides, self.questions, answers))

    def oracle(self, oracle: str, *, answers: bool = False) -> Outcome:
        """Dense retrieval inside the gold filing ("document") or page ("page")."""
        return self.run("dense", {"retrieval.oracle": oracle}, answers=answers)

    def untrained(self, own: Mapping[str, Any] = {}) -> Outcome:
        """The page vectors of the index in place of a trained page scorer."""
        return self.run("page_scorer", {"page_encoder.model": "", **own})

    def learned(self, pages: int, *, answers: bool = False) -> Outcome:
        """The trained page scorer with P = ``pages``: each question with the model that held its filings out."""
        return self._once(f"learned-{pages}{'-answers' * answers}", lambda: self._learned(pages, answers))

    def _once(self, label: str, work: Callable[[], dict[str, Prediction] | Gap]) -> Outcome:
        if label not in self._done:
            found = work()
            self._done[label] = found if isinstance(found, Gap) else self._scored(label, found)
        return self._done[label]

    def _scored(self, label: str, found: dict[str, Prediction]) -> Outcome:
        failures = failure_notes(label, [*found.values()])
        if isinstance(failures, Gap):
            return failures
        self.notes += failures
        return _Asked(found, {q.qid: score(q, found[q.qid]) for q in self.questions if q.qid in found})

    def _ask(
        self, label: str, overrides: Mapping[str, Any], questions: Sequence[Question], answers: bool
    ) -> dict[str, Prediction] | Gap:
        try:
            settings = self.settings({**(_ANSWER if answers else _RETRIEVE), **overrides})
            found = self.runs.predictions(label, settings, questions)
        except SettingsError as error:  # no reranker or no language model is named
            return Gap(str(error))
        return found if isinstance(found, Gap) else {prediction.qid: prediction for prediction in found}

    def _learned(self, pages: int, answers: bool) -> dict[str, Prediction] | Gap:
        if self.request.models is None:
            return Gap(
                "no trained page scorer: train one for each fold with `finray train page-scorer --recipe page-scorer`, "
                "and name their folder with --models"
            )
        found: dict[str, Prediction] = {}
        parts = _questions_of_models(self.questions, Path(self.request.models))
        for folder, (record, questions) in parts.items():
            overrides = {
                **_trained(folder, record),
                "retrieval.method": "page_scorer",
                "methods.page_scorer.pages": pages,
            }
            label = f"{folder.name}-{_label({'retrieval.method': f'page_scorer-{pages}'}, answers)}"
            part = self._ask(label, overrides, questions, answers)
            if isinstance(part, Gap):
                return part
            found |= part
        left_out = len(self.questions) - len(found)
        note = f"{LEARNED}: {left_out} questions are left out, because every model was trained on them"
        if left_out and note not in self.notes:
            self.notes.append(note)
        return found


def tables(request: Request, progress: Progress) -> list[PaperTable]:
    """The tables that are asked for. Raises UsageError, IndexMissingError, and IndexMismatchError if the index was
    built with other settings."""
    questions = read_all(request.questions)
    settings = load_settings(request.preset, request.overrides)
    reader = IndexReader.open(request.index, settings)
    with Runs(request.index, request.out, progress) as runs:
        experiment = _Experiment(request, questions, KnownFilings(reader.filings()), runs)
        made = [build(experiment) for number, build in _BUILD.items() if request.wants(number)]
    models = _models(settings, request.models)
    return [replace(table, notes=(*table.notes, *experiment.notes, models)) for table in made]


def _table_1(experiment: _Experiment) -> PaperTable:
    questions = experiment.questions
    types = Counter(question.question_type or NO_TYPE for question in questions)
    forms = Counter(_form(question, experiment.known) or "other" for question in questions)
    published = {"10K": ("112", 0.747), "10Q": ("15", 0.10), "EC": ("14", 0.093), "8K": ("9", 0.06)}
    rows = [Row(f"form {name}", _share(forms[name], len(questions)), value) for name, value in published.items()]
    if forms["other"]:
        rows.append(Row("form other", _share(forms["other"], len(questions))))
    in_paper = {"domain-relevant", "metrics-generated", "novel-generated"}
    rows += [
        Row(name, _share(count, len(questions)), ("50", 0.33) if name in in_paper else ())
        for name, count in sorted(types.items())
    ]
    return PaperTable("1", "the questions (section 3.1)", ("questions", "share"), rows)


def _table_2(experiment: _Experiment) -> PaperTable:
    rows = [
        Row(
            f"Oracle {oracle}",
            [
                *_retrieval_cells(experiment.oracle(oracle)),
                _numeric_match(experiment, experiment.oracle(oracle, answers=True)),
            ],
            published,
        )
        for oracle, published in (("document", (1.0, 0.60, 0.25, 0.42, 0.26)), ("page", (1.0, 1.0, 0.40, 0.59, 0.34)))
    ]
    heads = (*_RETRIEVAL_HEADS.values(), "Numeric match")
    return PaperTable("2", _titled("oracle results", experiment), heads, rows, [_numeric_note(experiment)])


def _table_3(experiment: _Experiment) -> PaperTable:
    rows = [Row(label, _retrieval_cells(experiment.run(method)), published) for label, method, published in _TABLE_3]
    rows.append(Row(LEARNED, _retrieval_cells(experiment.learned(20)), _P[20]))
    rows.append(Row("Page vectors of the index, untrained", _retrieval_cells(experiment.untrained())))
    title = _titled("aggregated retrieval", experiment)
    return PaperTable("3", title, tuple(_RETRIEVAL_HEADS.values()), rows, _TABLE_3_NOTES)


def _table_4(experiment: _Experiment) -> PaperTable:
    published = (
        (0.96, 0.45, 0.87, 0.47, 0.89, 0.78, 0.86, 0.36),
        (0.97, 0.62, 0.87, 0.40, 0.89, 0.56, 0.86, 0.10),
        (1.00, 0.56, 1.00, 0.60, 1.00, 0.89, 1.00, 0.64),
    )
    groups = {name: {q.qid for q in experiment.questions if _form(q, experiment.known) == name} for name in _FORMS}
    title = "recall by form: " + ", ".join(f"{name} n = {len(qids)}" for name, qids in groups.items())
    return PaperTable("4", title, _recall_heads(groups), _recall_rows(experiment, groups, published))


def _figure_3(experiment: _Experiment) -> PaperTable:
    types = sorted({question.question_type or NO_TYPE for question in experiment.questions})
    groups = {name: {q.qid for q in experiment.questions if (q.question_type or NO_TYPE) == name} for name in types}
    title = "recall by question type: " + ", ".join(f"{name} n = {len(qids)}" for name, qids in groups.items())
    stated = {LEARNED: (1.0, 0.81), "Oracle document": (1.0, 0.68)}  # in the text; the figure prints no values
    published = [
        [value for name in types for value in (stated.get(label, (None, None)) if "metrics" in name else (None, None))]
        for label in (_BEST_BASELINE, LEARNED, "Oracle document")
    ]
    return PaperTable("F3", title, _recall_heads(groups), _recall_rows(experiment, groups, published))


def _table_5(experiment: _Experiment) -> PaperTable:
    rows = [
        Row(label, [_answer_rouge(experiment, outcome), _numeric_match(experiment, outcome)], published)
        for label, outcome, published in (
            (_BEST_BASELINE, experiment.run(STRONGEST, answers=True), (0.07, 0.12)),
            (LEARNED, experiment.learned(20, answers=True), (0.15, 0.30)),
            ("Oracle document", experiment.oracle("document", answers=True), (0.16, 0.26)),
            ("Oracle page", experiment.oracle("page", answers=True), (0.20, 0.34)),
        )
    ]
    title = _titled("generated answers", experiment)
    return PaperTable("5", title, ("ROUGE-L", "Numeric match"), rows, [_numeric_note(experiment)])


def _table_6(experiment: _Experiment) -> PaperTable:
    rows = [Row(f"P = {p}", _retrieval_cells(experiment.learned(p)), _P.get(p, ())) for p in (*_P, *_MORE_P)]
    rows += [
        Row(f"P = {p}, untrained", _retrieval_cells(experiment.untrained({"methods.page_scorer.pages": p})))
        for p in (*_P, *_MORE_P)
    ]
    return PaperTable("6", _titled("pages of the first stage", experiment), tuple(_RETRIEVAL_HEADS.values()), rows)


_BUILD: Final[Mapping[str, Callable[[_Experiment], PaperTable]]] = dict(
    zip(NUMBERS, (_table_1, _table_2, _table_3, _table_4, _table_5, _table_6, _figure_3), strict=True)
)


def _recall_heads(groups: Mapping[str, set[str]]) -> tuple[str, ...]:
    return tuple(f"{name} {what}@{K}" for name in groups for what in "DP")


def _recall_rows(
    experiment: _Experiment, groups: Mapping[str, set[str]], published: Sequence[Sequence[float | None]]
) -> list[Row]:
    outcomes = {
        _BEST_BASELINE: experiment.run(STRONGEST),
        LEARNED: experiment.learned(20),
        "Oracle document": experiment.oracle("document"),
    }
    names = (f"document_recall@{K}", f"page_recall@{K}")
    return [
        Row(label, [_mean(outcome, name, qids) for qids in groups.values() for name in names], values)
        for (label, outcome), values in zip(outcomes.items(), published, strict=True)
    ]


def _retrieval_cells(outcome: Outcome) -> list[Cell]:
    return [_mean(outcome, name) for name in _RETRIEVAL_HEADS]


def _mean(outcome: Outcome, metric: str, qids: set[str] | None = None) -> Cell:
    if isinstance(outcome, Gap):
        return outcome
    chosen = [scores for qid, scores in outcome.scores.items() if qids is None or qid in qids]
    values = [scores[metric] for scores in chosen if metric in scores]
    if values:
        return estimate(values)
    return Gap("the questions have no gold text") if chosen and metric.startswith(("bleu", "rouge")) else None


def _answer_rouge(experiment: _Experiment, outcome: Outcome) -> Cell:
    return _answer_score(outcome, [q for q in experiment.questions if q.answer], answer_rouge_l)


def _numeric_match(experiment: _Experiment, outcome: Outcome) -> Cell:
    return _answer_score(outcome, _numeric_questions(experiment), number_sets_match)


def _answer_score(outcome: Outcome, questions: Sequence[Question], measure: Callable[[str, str], float | bool]) -> Cell:
    """The mean of ``measure(answer, reference)``; a question without an answer scores 0."""
    if isinstance(outcome, Gap):
        return outcome
    pairs = [(outcome.by_qid[q.qid], q.answer or "") for q in questions if q.qid in outcome.by_qid]
    values = [float(measure(found.answer, gold)) if found.status == "answered" else 0.0 for found, gold in pairs]
    return estimate(values) if values else None


def _numeric_questions(experiment: _Experiment) -> list[Question]:
    """The metrics-generated questions; in a set without types, those with a number in the gold answer."""
    metrics = [q for q in experiment.questions if q.answer and (q.question_type or "").startswith("metrics")]
    return metrics or [q for q in experiment.questions if q.answer and number_set(q.answer)]


def _numeric_note(experiment: _Experiment) -> str:
    chosen = _numeric_questions(experiment)
    typed = any((question.question_type or "").startswith("metrics") for question in chosen)
    what = "metrics-generated questions" if typed else "questions with a number in the gold answer"
    return f"numeric match: over {len(chosen)} {what}"


def _form(question: Question, known: KnownFilings) -> str | None:
    forms = {known.form(evidence.doc_name) for evidence in question.evidence}
    return next((name for name, form in _FORMS.items() if any((f or "").startswith(form) for f in forms)), None)


def _questions_of_models(
    questions: Sequence[Question], models: Path
) -> dict[Path, tuple[Mapping[str, Any], list[Question]]]:
    """The questions of each trained model: those that it held out, or that no model has seen (on the first)."""
    records = model_records(models)
    chosen: dict[Path, tuple[Mapping[str, Any], list[Question]]] = {f: (record, []) for f, record in records.items()}
    for question in questions:
        held = [folder for folder, record in records.items() if question.qid in record["held_out_questions"]]
        unseen = [folder for folder, record in records.items() if question.qid not in record["learned_questions"]]
        if held or unseen:
            chosen[(held or unseen)[0]][1].append(question)
    return {folder: part for folder, part in chosen.items() if part[1]}


def _trained(folder: Path, record: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of ``page_encoder`` that a trained model needs."""
    names = ("max_tokens", "page_characters", "query_prefix", "passage_prefix")
    own = {f"page_encoder.{name}": record["identity"][name] for name in names if name in record["identity"]}
    store = "-".join(part for part in folder.parts[-2:] if part.isidentifier() or part.replace("-", "").isalnum())
    return {**own, "page_encoder.model": str(folder), "page_encoder.revision": "", "page_encoder.store": store}


def _models(settings: Settings, models: str | None) -> str:
    base = ""
    if models is not None:
        record = next(iter(model_records(Path(models)).values()))
        base = f", page scorer from {record['identity']['base']}"
    return (
        f"models here: encoder {settings.encoder.model}, reranker {settings.passage_reranker.model or 'none'}, "
        f"language model {settings.llm.model}{base}; published: BAAI/bge-m3, BAAI/bge-reranker-v2-m3, "
        "Qwen-2.5-7B-Instruct"
    )


def _share(count: int, total: int) -> tuple[Cell, Cell]:
    return (str(count), count / total)


def _titled(what: str, experiment: _Experiment) -> str:
    return f"{what}, n = {len(experiment.questions)}, k = {K}"


def _label(overrides: Mapping[str, Any], answers: bool) -> str:
    method = str(overrides["retrieval.method"])
    rest = [f"{name.rpartition('.')[2]}={value}" for name, value in overrides.items() if name != "retrieval.method"]
    return "-".join(filter(None, (method, *rest, "answers" if answers else "")))

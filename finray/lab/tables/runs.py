"""Runs methods over question sets and one index for the tables of a publication; a method that cannot run is a gap."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Self

from finray.batch.driver import answer_all
from finray.batch.prediction_store import PredictionStore, pending, read_predictions
from finray.batch.question_files import BadLine, read_questions
from finray.core.errors import IndexMismatchError, MissingExtraError, ModelError, UsageError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import LlmSettings, Settings
from finray.engine import models_asked
from finray.index.extensions.update import extend_index
from finray.index.reading.reader import IndexReader
from finray.lab.comparison import SharedModels, file_name
from finray.lab.evaluation.evaluate import Judge
from finray.lab.evaluation.judging.famma_judge import FammaJudge, gold_contexts
from finray.lab.evaluation.judging.judgement import submission_of
from finray.lab.evaluation.judging.judgement_store import read_judgements
from finray.lab.evaluation.judging.judges import OnDemandModel, judge_into
from finray.lab.evaluation.numbers import squeezed
from finray.lab.tables.paper_table import Gap
from finray.lab.tables.request import Progress
from finray.models.chat import Message
from finray.models.load_chat import load_chat
from finray.retrieval.methods.composed import needed_extensions
from finray.storage.locations import join


def read_all(uris: Sequence[str]) -> list[Question]:
    """The questions of all files. Raises UsageError if a line is unusable, a qid occurs twice or there is none."""
    lines = [line for uri in uris for line in read_questions(uri)]
    bad = next((line for line in lines if isinstance(line, BadLine)), None)
    if bad is not None:
        raise UsageError(f"line {bad.line} of the questions is unusable: {bad.reason}")
    questions = [line for line in lines if isinstance(line, Question)]
    if not questions:
        raise UsageError(f"{', '.join(uris)}: there is no question")
    if len({question.qid for question in questions}) < len(questions):
        raise UsageError(f"{', '.join(uris)}: a qid occurs twice; a table needs each question once")
    return questions


def failure_notes(label: str, predictions: Sequence[Prediction]) -> list[str] | Gap:
    """A note if questions of a run failed; a gap if all did."""
    failed = [prediction for prediction in predictions if prediction.status == "error"]
    if not failed:
        return []
    if len(failed) == len(predictions):
        return Gap(f"every question failed: {failed[0].error}")
    return [f"{label}: {len(failed)} of {len(predictions)} questions failed and score 0: {failed[0].error}"]


class Runs:
    """Answers each run once. Predictions are kept in ``out`` if given, else until the context ends.

    Index extensions that a method needs are built first, as by ``finray extend``.
    """

    def __init__(self, index_uri: str, out: str | None, progress: Progress) -> None:
        self._index_uri = index_uri
        self._out = out
        self._progress = progress
        self._shared = SharedModels(index_uri)
        self._stack = ExitStack()
        self._llms: dict[LlmSettings, Gap | None] = {}

    def __enter__(self) -> Self:
        self._folder = self._out or self._stack.enter_context(tempfile.TemporaryDirectory())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def predictions(
        self, label: str, settings: Settings, questions: Sequence[Question]
    ) -> tuple[Prediction, ...] | Gap:
        """A prediction for each question, or why there are none: a model, a package or the server is missing.

        Questions that failed in an earlier run of the same ``out`` are asked again.
        """
        uri = join(self._folder, f"{file_name(label)}.jsonl")
        try:
            with PredictionStore(uri) as store:
                if list(pending(questions, store.done(), settings.answer_hash(), retry_failed=True)):
                    if gap := next(filter(None, map(self.no_llm, models_asked(settings))), None):
                        return gap
                    self._answer(label, settings, questions, store)
            found = read_predictions(uri).predictions
        except (ModelError, MissingExtraError, IndexMismatchError) as error:
            return Gap(squeezed(str(error)))
        asked = {question.qid for question in questions}
        return tuple(prediction for prediction in found if prediction.qid in asked)

    def judge(self, pairs: Sequence[tuple[Question, Prediction]], settings: Settings) -> Judge | Gap:
        """The generator's verdicts on the textual answers among ``pairs`` by HiREC's prompt, kept beside the
        predictions; or why there are none."""
        submissions = [found for pair in pairs if (found := submission_of(*pair)) is not None]
        if not submissions:
            return _no_verdict
        llm, uri = settings.generator, join(self._folder, "judgements.jsonl")
        try:
            if gap := self.no_llm(llm):
                return gap
            contexts = gold_contexts((question for question, _ in pairs), IndexReader.open(self._index_uri, settings))
            judge = FammaJudge(OnDemandModel(llm), llm, contexts)
            report = partial(_report, self._progress, "judging")
            judge_into(uri, judge, submissions, llm, retry_failed=True, progress=report)
        except (ModelError, MissingExtraError) as error:
            return Gap(str(error))
        return read_judgements(uri).verdict

    def _answer(self, label: str, settings: Settings, questions: Sequence[Question], store: PredictionStore) -> None:
        reader = IndexReader.open(self._index_uri, settings)
        for extension in needed_extensions(settings):
            extend_index(reader, extension, progress=partial(_report, self._progress, extension.name))
        engine = self._shared.engine(settings, None)
        report = partial(_report, self._progress, label)
        asyncio.run(answer_all(questions, engine.answer, store, settings, retry_failed=True, progress=report))

    def no_llm(self, llm: LlmSettings) -> Gap | None:
        """Why the language model does not answer, None if it does. Each is asked once."""
        if llm not in self._llms:
            try:
                once = llm.model_copy(update={"max_retries": 0, "replay_cache": "", "max_tokens": 8})
                asyncio.run(load_chat(once).chat([Message("user", "Say yes.")]))
                self._llms[llm] = None
            except (ModelError, MissingExtraError) as error:
                self._llms[llm] = Gap(f"no language model {llm.model!r}: {squeezed(str(error))}")
        return self._llms[llm]


def _no_verdict(question: Question, prediction: Prediction) -> None:
    """The verdict when no answer needs a judge."""


def _report(progress: Progress, label: str, done: int, total: int) -> None:
    progress(done, total, label)

"""Answers one question set with several retrieval methods over one index, for ``finray compare``."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from finray.batch.driver import answer_all
from finray.batch.prediction_store import PredictionStore, pending, read_predictions
from finray.batch.question_files import BadLine, read_questions
from finray.core.errors import UsageError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import EncoderSettings, Settings, load_settings
from finray.engine import Engine, asks_llm, build_engine
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation.evaluate import Evaluation, evaluate
from finray.models.chat import ChatModel
from finray.models.encoder import Encoder
from finray.models.encoder_loading import load_encoder
from finray.models.reranker import load_reranker
from finray.retrieval.methods.composed import method_named
from finray.storage.locations import join

RETRIEVAL_ONLY: Final[Mapping[str, Any]] = {"loop.curate": False, "loop.answerer": "none", "retrieval.k_passages": 10}
"""No curation and no answers, and enough passages for recall@10."""

Progress = Callable[[str, int, int], None]
"""Called with (label, done, total)."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A method with its settings. ``label`` is its argument: ``rrf`` or ``rrf:methods.rrf.constant=10``."""

    label: str
    settings: Settings


def contenders(
    methods: Sequence[str], preset: str, overrides: Mapping[str, Any], *, retrieval_only: bool
) -> list[Contender]:
    """``methods`` (``name`` or ``name:section.key=value,...``) with their settings over ``preset`` and ``overrides``.

    Raises SettingsError for an unknown method or setting, UsageError if ``methods`` is empty or has duplicates.
    """
    if not methods:
        raise UsageError("name at least one retrieval method to compare")
    twice = next((label for label in methods if methods.count(label) > 1), None)
    if twice is not None:
        raise UsageError(f"the method {twice!r} is given twice; add a setting to one: {twice}:section.key=value")
    base = RETRIEVAL_ONLY if retrieval_only else {}
    return [Contender(label, load_settings(preset, {**base, **overrides, **_own_settings(label)})) for label in methods]


def _own_settings(label: str) -> dict[str, Any]:
    name, _, rest = label.partition(":")
    own: dict[str, Any] = {"retrieval.method": method_named(name).name}
    for assignment in filter(None, rest.split(",")):
        key, separator, value = assignment.partition("=")
        if not separator:
            raise UsageError(f"{label!r}: write a method's settings as {name}:section.key=value,section.key=value")
        own[key.strip()] = value.strip()
    return own


def compare_methods(
    compared: Sequence[Contender],
    questions: str,
    index_uri: str,
    folder: str | None,
    progress: Callable[[int, int], None],
) -> dict[str, Evaluation]:
    """The scores of each contender on a question file, by its label.

    With ``folder``, the predictions of each are kept in ``folder``/<method>.jsonl, and a second run resumes. Raises
    UsageError if no question can be scored, SourceError, IndexMissingError.
    """
    limit = compared[0].settings.bulk.max_question_characters
    lines = list(read_questions(questions, max_characters=limit))
    asked = [line for line in lines if isinstance(line, Question)]
    if not asked:
        raise UsageError(f"{questions!r} holds no question that can be scored")
    position = {contender.label: number for number, contender in enumerate(compared)}

    def report(label: str, done: int, total: int) -> None:
        progress(position[label] * len(lines) + len(lines) - total + done, len(compared) * len(lines))

    with ExitStack() as stack:
        target = folder or stack.enter_context(tempfile.TemporaryDirectory())
        uris = {label: join(target, f"{file_name(label)}.jsonl") for label in position}
        stores = {label: stack.enter_context(PredictionStore(uri)) for label, uri in uris.items()}
        asyncio.run(answer_with_each(lines, index_uri, stores, compared, progress=report))
        files = {label: read_predictions(uri) for label, uri in uris.items()}
    return {label: evaluate(file.predictions, asked, remarks=file.remarks) for label, file in files.items()}


def file_name(label: str) -> str:
    """A method's label as a file name: ``rrf__methods.rrf.constant=10``."""
    return re.sub(r"[^\w.=,-]+", "_", label.replace(":", "__", 1))


async def answer_with_each(
    questions: Sequence[Question | BadLine],
    index_uri: str,
    stores: Mapping[str, PredictionStore],
    compared: Sequence[Contender],
    *,
    chat: ChatModel | None = None,
    progress: Progress | None = None,
) -> None:
    """Answer ``questions`` with each contender, one after the other in this process, into its store.

    Skips questions that the store has predictions for. Indexes and models are loaded once and shared. All engines are
    built before the first question, so that a missing requirement of a method is reported at once.
    """
    shared = SharedModels(index_uri)
    engines = {
        contender.label: shared.engine(contender.settings, chat)
        for contender in compared
        if _has_open_questions(questions, stores[contender.label], contender.settings)
    }
    for contender in compared:
        engine = engines.get(contender.label)

        def report(done: int, total: int, label: str = contender.label) -> None:
            if progress is not None:
                progress(label, done, total)

        if engine is not None and not asks_llm(contender.settings):
            # Warm-up: the first question of a process loads what later ones find cached.
            await engine.answer(next(item for item in questions if isinstance(item, Question)))
        answer = engine.answer if engine is not None else _not_needed
        await answer_all(questions, answer, stores[contender.label], contender.settings, progress=report)


class SharedModels:
    """Builds engines over one index that share readers, encoders and rerankers if their settings for them are equal."""

    def __init__(self, index_uri: str) -> None:
        self._index_uri = index_uri
        self._readers: dict[str, IndexReader] = {}
        self._encoders: dict[EncoderSettings, Encoder] = {}
        self._reranker = cache(load_reranker)

    def engine(self, settings: Settings, chat: ChatModel | None) -> Engine:
        key = settings.index_hash()
        if key not in self._readers:
            self._readers[key] = IndexReader.open(self._index_uri, settings)
        if settings.encoder not in self._encoders:
            self._encoders[settings.encoder] = load_encoder(settings.encoder, threads=1)
        encoder = self._encoders[settings.encoder]
        reader, rerankers = self._readers[key], self._reranker
        return build_engine(reader, settings, encoder=encoder, chat=chat, answer_chat=chat, rerankers=rerankers)


def _has_open_questions(questions: Sequence[Question | BadLine], store: PredictionStore, settings: Settings) -> bool:
    todo = pending(questions, store.done(), settings.answer_hash())
    return any(isinstance(item, Question) for item in todo)


async def _not_needed(question: Question) -> Prediction:
    raise AssertionError(f"question {question.qid} already has a prediction")

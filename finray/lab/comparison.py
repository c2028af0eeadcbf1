"""One question set answered with several retrieval methods over one index: the library behind ``finray compare``."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from finray.batch.driver import answer_all
from finray.batch.prediction_store import PredictionStore, pending, read_predictions
from finray.batch.question_files import BadLine, read_questions
from finray.core.errors import UsageError
from finray.core.settings import EncoderSettings, LlmSettings, Settings, load_settings
from finray.core.types import Prediction, Question
from finray.engine import Engine, asks_llm, build_engine
from finray.index.reader import IndexReader
from finray.lab.evaluation.evaluate import Evaluation, evaluate
from finray.models.chat import ChatModel
from finray.models.encoder import Encoder, load_encoder
from finray.models.load_chat import load_chat
from finray.retrieval.methods.registry import method_named
from finray.storage.locations import join

RETRIEVAL_ONLY: Final[Mapping[str, Any]] = {"loop.curate": False, "loop.answerer": "none", "retrieval.k_passages": 10}
"""No curation and no answer, and passages enough for recall at 10."""

Progress = Callable[[str, int, int], None]
"""Called with (label, done, total)."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A method with its settings. ``label`` is what it was asked for as: ``rrf`` or ``rrf:methods.rrf.constant=10``."""

    label: str
    settings: Settings


def contenders(
    methods: Sequence[str], preset: str, overrides: Mapping[str, Any], *, retrieval_only: bool
) -> list[Contender]:
    """Each of ``methods`` (``name`` or ``name:section.key=value,...``) over ``preset`` and ``overrides``.

    Raises SettingsError for an unknown method or setting, UsageError where none or one twice is given.
    """
    if not methods:
        raise UsageError("name at least one retrieval method to compare")
    twice = next((label for label in methods if methods.count(label) > 1), None)
    if twice is not None:
        raise UsageError(
            f"the method {twice!r} is given twice; tell them apart by a setting: {twice}:section.key=value"
        )
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

    With ``folder`` each one's predictions are kept in ``folder``/<method>.jsonl, and a second run asks only what they
    lack. Raises UsageError if no question can be scored, SourceError, IndexMissingError.
    """
    limit = compared[0].settings.bulk.max_question_characters
    lines = list(read_questions(questions, max_characters=limit))
    asked = [line for line in lines if isinstance(line, Question)]
    if not asked:
        raise UsageError(f"{questions!r} holds no question that can be scored")
    place = {contender.label: number for number, contender in enumerate(compared)}

    def report(label: str, done: int, total: int) -> None:
        progress(place[label] * len(lines) + len(lines) - total + done, len(compared) * len(lines))

    with ExitStack() as stack:
        target = folder or stack.enter_context(tempfile.TemporaryDirectory())
        where = {label: join(target, f"{_file_name(label)}.jsonl") for label in place}
        stores = {label: stack.enter_context(PredictionStore(uri)) for label, uri in where.items()}
        asyncio.run(answer_with_each(lines, index_uri, stores, compared, progress=report))
        files = {label: read_predictions(uri) for label, uri in where.items()}
    return {label: evaluate(file.predictions, asked, remarks=file.remarks) for label, file in files.items()}


def _file_name(label: str) -> str:
    """``rrf:methods.rrf.constant=10`` as the name of a file."""
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
    """Answer ``questions`` with each contender, one after the other in this process, into its store of ``stores``.

    What a store holds already is not asked again. Index and encoders are opened once and shared. Every engine is
    built before the first question is asked, so that what a method lacks is known at once.
    """
    shared = _Shared(index_uri)
    engines = {
        contender.label: shared.engine(contender.settings, chat)
        for contender in compared
        if _asks(questions, stores[contender.label], contender.settings)
    }
    for contender in compared:
        engine = engines.get(contender.label)

        def report(done: int, total: int, label: str = contender.label) -> None:
            if progress is not None:
                progress(label, done, total)

        if engine is not None and not asks_llm(contender.settings):
            # Once unmeasured: the first question of a process pays for what the others find loaded.
            await engine.answer(next(item for item in questions if isinstance(item, Question)))
        answer = engine.answer if engine is not None else _nobody
        await answer_all(questions, answer, stores[contender.label], contender.settings, progress=report)


class _Shared:
    """An open index for each set of index settings, an encoder for each set of encoder settings."""

    def __init__(self, index_uri: str) -> None:
        self._index_uri = index_uri
        self._readers: dict[str, IndexReader] = {}
        self._encoders: dict[EncoderSettings, Encoder] = {}
        self._chats: dict[LlmSettings, ChatModel] = {}

    def engine(self, settings: Settings, chat: ChatModel | None) -> Engine:
        key = settings.index_hash()
        if key not in self._readers:
            self._readers[key] = IndexReader.open(self._index_uri, settings)
        if settings.encoder not in self._encoders:
            self._encoders[settings.encoder] = load_encoder(settings.encoder, threads=1)
        if chat is None and asks_llm(settings):
            if settings.llm not in self._chats:
                self._chats[settings.llm] = load_chat(settings.llm)
            chat = self._chats[settings.llm]
        return build_engine(self._readers[key], settings, encoder=self._encoders[settings.encoder], chat=chat)


def _asks(questions: Sequence[Question | BadLine], store: PredictionStore, settings: Settings) -> bool:
    todo = pending(questions, store.done(), settings.answer_hash())
    return any(isinstance(item, Question) for item in todo)


async def _nobody(question: Question) -> Prediction:
    raise AssertionError(f"{question.qid} was not to be asked")

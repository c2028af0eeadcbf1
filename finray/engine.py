"""Builds the engine, which answers questions, from settings and an open index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from finray.answering.confidence import ConfidenceModel, load_confidence_model
from finray.answering.grid import GridAnswerer
from finray.answering.guard import AnswerSource, GuardedAnswerer
from finray.answering.ocr_figures import with_ocr
from finray.answering.own_answer import OwnAnswerer
from finray.answering.plans.planned import PlannedAnswerer
from finray.answering.sentences.figure_answerer import FigureAnswerer
from finray.answering.sentences.in_words import WordsAnswerer
from finray.answering.sentences.model import SentenceModel
from finray.answering.sentences.read import SentenceFinder
from finray.answering.statements import StatementAnswerer
from finray.answering.table_reader.table_answerer import TableAnswerer
from finray.answering.written_plans.answerer import PlanAnswerer
from finray.core.errors import SettingsError
from finray.core.filing_filter import FilingFilter
from finray.core.journal import Journal, Observer
from finray.core.passages import Document, Passage
from finray.core.predictions import Prediction
from finray.core.query import Query
from finray.core.question_fields import read_question
from finray.core.questions import Question
from finray.core.roles import Answerer, ConversationReader, Curator, NoAnswerer, QuestionReader, Roles
from finray.core.settings import LlmSettings, Settings
from finray.evidence.evidence import shown_evidence
from finray.hirec.composed import Composer
from finray.hirec.evidence_view import EvidenceView
from finray.hirec.follow_ups import IndexFollowUps
from finray.hirec.loop import answer_question, retrieve
from finray.hirec.model_conversation import ModelConversation
from finray.hirec.model_reader import ModelReader
from finray.hirec.model_roles import ModelAnswerer, ModelCurator, ModelResponder
from finray.hirec.plain_answerer import PlainAnswerer
from finray.hirec.published_answerer import PublishedAnswerer
from finray.hirec.published_roles import PublishedCurator, PublishedReader
from finray.hirec.rule_curator import RuleCurator
from finray.index.reading.facts import FilingFacts
from finray.index.reading.reader import IndexReader
from finray.models.chat import ChatModel
from finray.models.encoder import Encoder, QueryCache
from finray.models.encoder_loading import load_encoder
from finray.models.load_chat import load_chat
from finray.models.plan_writer import PlanWriter, load_plan_writer
from finray.models.question_model import question_model
from finray.models.reranker import RerankerLoader, load_reranker
from finray.question.companies.catalog import CompanyCatalog
from finray.question.follow_ups.conversation import RuleConversation
from finray.question.measures.measure_tagger import MeasureTagger
from finray.question.measures.metric_recognizer import MetricRecognizer
from finray.question.rule_reader import PlainReader, RuleReader
from finray.question.trained_reader import TrainedReader
from finray.retrieval.documents import NarrowedDocuments
from finray.retrieval.flat import FilingTitles
from finray.retrieval.meant_company import MeantCompany, NarrowedReader
from finray.retrieval.methods.composed import build_retrieval, method_named
from finray.retrieval.methods.toolbox import Toolbox
from finray.retrieval.oracle import GoldDocuments, GoldPages
from finray.sandbox.runner import Sandbox

_GENERATING: Final = frozenset({"hirec", "model", "plain"})
"""Answerers that call a language model."""


class Engine:
    """Answers questions over one version of one index."""

    def __init__(self, roles: Roles, reader: IndexReader, catalog: CompanyCatalog, settings: Settings) -> None:
        self.roles = roles
        self.reader = reader
        self.catalog = catalog
        self.settings = settings

    async def answer(
        self, question: Question, observer: Observer | None = None, narrowed: FilingFilter | None = None
    ) -> Prediction:
        """Answer ``question`` from the filings that match ``narrowed``, by default from all.

        If a role fails or the question is not text, the prediction has status "error"; this does not raise.
        """
        roles = self._narrowed(narrowed)
        oracle = self.settings.retrieval.oracle
        if oracle != "none":
            roles = replace(roles, documents=GoldDocuments(self.reader, question.evidence))
        if oracle == "page":
            roles = replace(roles, passages=GoldPages(self.reader, question.evidence, roles.passages))
        return await answer_question(question, roles, self.settings, observer)

    async def retrieve(
        self,
        question: str,
        observer: Observer | None = None,
        narrowed: FilingFilter | None = None,
        *,
        k_documents: int | None = None,
        k_passages: int | None = None,
    ) -> tuple[Query, Sequence[Document], Sequence[Passage]]:
        """The first retrieval of the loop. Raises FinrayError, such as QuestionError for a non-text question."""
        k = self.settings.retrieval
        wanted = {"k_documents": k_documents or k.k_documents, "k_passages": k_passages or k.k_passages}
        settings = self.settings.model_copy(update={"retrieval": k.model_copy(update=wanted)})
        asked = read_question(question, settings.bulk.max_question_characters)
        return await retrieve(asked, 0, self._narrowed(narrowed), settings, Journal(observer))

    def _narrowed(self, narrowed: FilingFilter | None) -> Roles:
        if narrowed is None or narrowed.is_empty:
            return self.roles
        return replace(
            self.roles,
            reader=NarrowedReader(self.roles.reader, self.catalog, self.reader.filings(), narrowed),
            documents=NarrowedDocuments(self.roles.documents, self.reader, narrowed),
        )


def open_engine(
    index_uri: str,
    settings: Settings,
    *,
    encoder: Encoder | None = None,
    chat: ChatModel | None = None,
    answer_chat: ChatModel | None = None,
) -> Engine:
    """An engine over the index at ``index_uri``.

    ``encoder``, ``chat`` and ``answer_chat`` replace the models of the settings (by a Ray Serve handle or a fake).
    Raises IndexMissingError, IndexMismatchError if the index was built with another encoder, ModelUnavailableError.
    """
    reader = IndexReader.open(index_uri, settings)
    # One thread: a question has a few dozen tokens, and bulk answering runs one engine on each CPU.
    encoder = encoder or load_encoder(settings.encoder, threads=1)
    return build_engine(reader, settings, encoder=encoder, chat=chat, answer_chat=answer_chat)


def asks_llm(settings: Settings) -> bool:
    """Whether answering a question calls a language model."""
    return bool(models_asked(settings))


def models_asked(settings: Settings) -> tuple[LlmSettings, ...]:
    """The language models that answering a question calls, each once."""
    loop, needs = settings.loop, method_named(settings.retrieval.method).needs
    own = {"hirec", "model"} & {loop.transform, loop.curator if loop.curates else ""}
    answers_by_llm = loop.answerer == "method" and "generator" not in needs
    asked = [settings.llm] * bool(own or answers_by_llm or "chat model" in needs)
    asked += [settings.generator] * (loop.answerer in _GENERATING or "generator" in needs)
    return tuple(dict.fromkeys(asked))


def build_engine(
    reader: IndexReader,
    settings: Settings,
    *,
    encoder: Encoder,
    chat: ChatModel | None = None,
    answer_chat: ChatModel | None = None,
    rerankers: RerankerLoader = load_reranker,
    sentences: SentenceModel | None = None,
    plans: PlanWriter | None = None,
) -> Engine:
    """An engine with the roles that ``settings`` choose, over an open reader.

    ``chat`` is the model of ``llm``, ``answer_chat`` that of ``answer_llm``; either is loaded if it is None and needed.
    ``sentences`` chooses the sentences of answers in words, by default the model that comes with finray. ``plans``
    writes plans in place of the model of ``plan_writer``. Raises
    SettingsError, ModelUnavailableError.
    """
    encoder = QueryCache(encoder)
    catalog = CompanyCatalog(reader.filings())
    facts = FilingFacts(reader, catalog, settings.index.cache_bytes // 2)  # the pages have the other half
    loop = settings.loop
    model, generator = _chat_models(settings, chat, answer_chat)
    load = load_chat if chat is None else None
    retrieval = build_retrieval(Toolbox(reader, encoder, catalog, model, settings, rerankers, load, generator))
    # Documents that are not filings have no companies, so no name in a question is one that the index lacks.
    plain = settings.collection.profile == "documents"
    settle = None if plain else MeantCompany(reader, catalog).settled
    rules = RuleReader(catalog, settle, anywhere=loop.judged or plain)
    readers: dict[str, QuestionReader] = {"rules": PlainReader() if plain else rules, "none": PlainReader()}
    if loop.transform == "trained":
        readers["trained"] = PlainReader() if plain else _trained_reader(rules)
    curators: dict[str, Curator] = {"rules": RuleCurator(facts, loop.max_kept)}
    confidence = load_confidence_model(loop.confidence_model)
    conversation: ConversationReader = RuleConversation(rules)
    answerers: dict[str, Answerer] = {
        "statements": _statement_answerer(settings, facts, encoder, sentences, confidence, plans),
        "method": OwnAnswerer(),
        "none": NoAnswerer(),
    }
    if model is not None and generator is not None:
        answerers["plain"] = PlainAnswerer(generator)
        view = EvidenceView(facts, settings.evidence)
        titles = FilingTitles(reader)
        readers |= {"hirec": PublishedReader(model), "model": ModelReader(model, rules)}
        if loop.transform in ("hirec", "model"):
            conversation = ModelConversation(model, RuleConversation(rules))
        curators |= {
            "hirec": PublishedCurator(model, titles),
            "model": ModelCurator(model, curators["rules"], view),
        }
        if loop.answerer in ("hirec", "model"):
            sandbox = Sandbox(settings.sandbox)
            trained = confidence if loop.confidence_model else None
            composer = Composer(sandbox)
            answerers |= {
                "hirec": PublishedAnswerer(generator, sandbox, titles, loop.generation),
                "model": GuardedAnswerer(ModelAnswerer(generator, composer, view), facts, confidence=trained),
            }
            if _in_one_call(settings):
                curators["model"] = ModelResponder(model, curators["rules"], composer, view)
    roles = Roles(
        reader=readers[loop.transform],
        documents=retrieval.documents,
        passages=retrieval.passages,
        curator=curators[loop.curator],
        answerer=answerers[loop.answerer],
        follow_ups=IndexFollowUps(rules, reader, facts),
        check=partial(with_ocr, facts=facts),
        render=partial(shown_evidence, facts=facts, settings=settings.evidence),
        conversation=conversation,
        repeatable=not asks_llm(settings),
    )
    return Engine(roles, reader, catalog, settings)


def _chat_models(
    settings: Settings, chat: ChatModel | None, answer_chat: ChatModel | None
) -> tuple[ChatModel | None, ChatModel | None]:
    """The model of ``llm``, if a role or the retrieval method calls it, and the one that writes answers."""
    loop, needs = settings.loop, method_named(settings.retrieval.method).needs
    asking = _GENERATING | {"method"}
    by_roles = bool(asking & {loop.transform, loop.curator, loop.answerer})
    by_method = bool({"chat model", "generator"} & {*needs} and settings.llm.model)
    if chat is None and (by_roles or by_method):
        chat = load_chat(settings.llm)
    if settings.answer_llm.model and (loop.answerer in _GENERATING or "generator" in needs):
        if _in_one_call(settings):
            raise SettingsError(
                "loop.one_call = true asks one model to curate and to answer, but answer_llm.model names another; set "
                "one_call to false, or leave answer_llm.model empty"
            )
        return chat, answer_chat or load_chat(settings.answer_llm)
    return chat, answer_chat or chat


def _in_one_call(settings: Settings) -> bool:
    loop = settings.loop
    return loop.one_call and loop.curator == loop.answerer == "model"


def _trained_reader(rules: RuleReader) -> TrainedReader:
    model = question_model()
    return TrainedReader(rules, MeasureTagger(model), MetricRecognizer(model))


def _statement_answerer(
    settings: Settings,
    facts: FilingFacts,
    encoder: Encoder,
    sentences: SentenceModel | None,
    confidence: ConfidenceModel,
    plans: PlanWriter | None = None,
) -> GridAnswerer:
    """The answerer without a language model: grids, then plans, then tables and sentences."""
    loop = settings.loop
    finder = SentenceFinder(facts, encoder, read=loop.sentences)
    words = WordsAnswerer(facts, finder, sentences)
    planned = PlannedAnswerer(StatementAnswerer(facts, words), facts)
    tables = TableAnswerer(facts) if loop.tables else None
    others: list[AnswerSource] = [FigureAnswerer(facts, finder)] if loop.figures else []
    if settings.plan_writer.backend != "none":
        writer = plans or load_plan_writer(settings.plan_writer)
        others.insert(0, PlanAnswerer(facts, finder, writer, settings.plan_writer.least_probability))
    one_figure = GuardedAnswerer(planned, facts, confidence, loop.least_confidence, tables, others)
    return GridAnswerer(one_figure, facts, confidence)

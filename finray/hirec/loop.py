"""HiREC's Algorithm 1 (arXiv 2505.20368) as one coroutine, for the command line, bulk runs and HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from finray.core.errors import FinrayError
from finray.core.journal import Journal, Observer
from finray.core.query import Query
from finray.core.question_fields import read_question, single_spaced
from finray.core.roles import Curation, Roles
from finray.core.settings import Settings
from finray.core.types import Document, DocumentRef, PageRef, Passage, Prediction, Question
from finray.retrieval.flat import proposed


async def answer_question(
    question: Question, roles: Roles, settings: Settings, observer: Observer | None = None
) -> Prediction:
    """Retrieve, curate, ask for what is missing, and answer.

    Does not raise if a role fails or the question is no text: the prediction then has status "error" and the error.
    Cancellation passes through. ``Prediction.passages`` is the first ranked retrieval, before curation. ``observer`` is
    called as each stage begins and ends.
    """
    journal = Journal(observer)
    started = time.perf_counter()
    try:
        outcome = await _run(question, roles, settings, journal)
    except FinrayError as error:
        outcome = Prediction(
            qid=question.qid,
            question=question.question,
            answer="",
            status="error",
            error=f"{type(error).__name__}: {error}",
        )
    return replace(
        outcome,
        usage=dict(journal.usage),
        trace=tuple(journal.lines),
        seconds=time.perf_counter() - started,
        settings_hash=settings.answer_hash(),
    )


async def _run(question: Question, roles: Roles, settings: Settings, journal: Journal) -> Prediction:
    loop = settings.loop
    asked = read_question(question.question, settings.bulk.max_question_characters)
    query, documents, first = await retrieve(asked, 0, roles, settings, journal)
    seen = proposed(documents, first)
    curation = Curation(tuple(first), answerable=True)
    rounds: list[tuple[PageRef, ...]] = []
    iterations = 0
    while loop.curate and iterations < loop.i_max:
        iterations += 1
        passages = curation.kept
        curate = partial(roles.curator.curate, query, passages, journal)
        curation = await journal.stage("curate", iterations, curate)
        curation = replace(curation, kept=curation.kept[: loop.max_kept] if loop.filter else passages)
        rounds.append(_page_refs(curation.kept))
        if curation.answerable or not curation.complementary:
            break
        journal.note(
            f"iteration {iterations}: missing {'; '.join(curation.missing)}; asking {curation.complementary!r}"
        )
        # Retrieve once more even after the last iteration (Algorithm 1, lines 8-11).
        _, more_documents, more = await retrieve(curation.complementary, iterations, roles, settings, journal)
        seen.extend(proposed(more_documents, more))
        curation = replace(curation, kept=_merged(curation.kept, more), plans=(), coverage=None)
        rounds[-1] = _page_refs(curation.kept)
    answer = await journal.stage("answer", iterations, lambda: roles.answerer.answer(query, curation, journal))
    missing = answer.missing or (() if answer.status == "answered" else curation.missing)
    return Prediction(
        qid=question.qid,
        question=question.question,
        answer=answer.text,
        status=answer.status,
        value=answer.value,
        unit=answer.unit,
        program=answer.program,
        grounded=answer.grounded,
        operands=answer.operands,
        confidence=answer.confidence,
        missing=missing,
        nearest=answer.nearest,
        documents=_document_refs(seen),
        passages=tuple(first),
        evidence=answer.evidence,
        iterations=iterations,
        rounds=tuple(rounds),
    )


async def retrieve(
    question: str, iteration: int, roles: Roles, settings: Settings, journal: Journal
) -> tuple[Query, Sequence[Document], Sequence[Passage]]:
    """Transform the question, choose documents, choose passages in them. Raises FinrayError."""
    k = settings.retrieval
    question = single_spaced(question)
    query = await journal.stage("transform", iteration, lambda: roles.reader.read(question, journal))
    documents = await journal.stage(
        "documents", iteration, lambda: roles.documents.documents(query, k.k_documents, journal)
    )
    passages = await journal.stage(
        "passages", iteration, lambda: roles.passages.passages(query, documents, k.k_passages, journal)
    )
    return query, documents, passages


def _merged(kept: Sequence[Passage], more: Sequence[Passage]) -> tuple[Passage, ...]:
    places = {(p.filing_id, p.page, p.start) for p in kept}
    return (*kept, *(p for p in more if (p.filing_id, p.page, p.start) not in places))


def _page_refs(passages: Iterable[Passage]) -> tuple[PageRef, ...]:
    return tuple(dict.fromkeys(PageRef(p.doc_name, p.filing_id, p.page) for p in passages))


def _document_refs(documents: Iterable[Document]) -> tuple[DocumentRef, ...]:
    """Each filing once, as it was first retrieved."""
    first: dict[str, Document] = {}
    for document in documents:
        first.setdefault(document.filing.filing_id, document)
    return tuple(document.ref for document in first.values())

"""HiREC's Algorithm 1 (arXiv 2505.20368) as one coroutine, for the command line, bulk runs and HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from finray.core.errors import FinrayError
from finray.core.journal import Journal, Observer
from finray.core.passages import Document, DocumentRef, PageRef, Passage, PassageRef
from finray.core.predictions import Answer, Prediction
from finray.core.query import Query
from finray.core.question_fields import read_context, read_question, single_spaced
from finray.core.questions import Question
from finray.core.roles import AnsweredPassages, Curation, FollowUp, Resolution, Roles, Turn
from finray.core.settings import Settings
from finray.question.two_questions import two_questions
from finray.retrieval.flat import proposed

_Retrieved = tuple[Query | None, Sequence[Document], Sequence[Passage]]


async def answer_question(
    question: Question, roles: Roles, settings: Settings, observer: Observer | None = None
) -> Prediction:
    """Retrieve, curate, ask for what is missing, and answer.

    Does not raise if a role fails or the question is not text: the prediction then has status "error" and the error.
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
        unusable=dict(journal.unusable),
        trace=tuple(journal.lines),
        seconds=time.perf_counter() - started,
        settings_hash=settings.answer_hash(),
    )


async def _run(question: Question, roles: Roles, settings: Settings, journal: Journal) -> Prediction:
    """The outcome of ``question``; of two questions in one, both. A language model answers two at once."""
    asked = read_question(question.question, settings.bulk.max_question_characters)
    first, second = two_questions(single_spaced(asked)) if roles.repeatable else (asked, "")
    if not second or roles.conversation is None:
        return await _one(question, asked, roles, settings, journal)
    one = await _one(question, first, roles, settings, journal)
    after = replace(question, question=second, context=(*question.context, first))
    return _joined(one, await _one(after, second, roles, settings, journal), first, second)


def _joined(one: Prediction, other: Prediction, first: str, second: str) -> Prediction:
    """``one`` with the answer to the second question, or with the name of what is not answered. The value is
    the first one's.
    """
    if "answered" not in (one.status, other.status):
        return replace(one, missing=tuple(dict.fromkeys((*one.missing, *other.missing))))
    if one.status != "answered":
        return replace(other, question=one.question, answer=f"{other.answer}\nNot answered: {first}", missing=(first,))
    if other.status != "answered":
        return replace(one, answer=f"{one.answer}\nNot answered: {second}", missing=(second,))
    confidences = [each.confidence for each in (one, other) if each.confidence is not None]
    return replace(
        one,
        answer=f"{one.answer}\n{other.answer}",
        documents=tuple(dict.fromkeys((*one.documents, *other.documents))),
        evidence=tuple(dict.fromkeys((*one.evidence, *other.evidence))),
        evidence_blocks=(*one.evidence_blocks, *other.evidence_blocks),
        operands=tuple(dict.fromkeys((*one.operands, *other.operands))),
        grounded=None if None in (one.grounded, other.grounded) else bool(one.grounded and other.grounded),
        confidence=min(confidences, default=None),
        program="; ".join(filter(None, (one.program, other.program))) or None,
        grid=one.grid or other.grid,
        resolved=one.resolved,
    )


async def _one(question: Question, asked: str, roles: Roles, settings: Settings, journal: Journal) -> Prediction:
    loop = settings.loop
    resolved = await _resolved(asked, question, roles, settings, journal)
    if resolved.unclear:
        return _unclear(question, resolved.unclear)
    query, documents, first = await retrieve(resolved.question, 0, roles, settings, journal)
    seen = proposed(documents, first)
    if query.unclear and settings.retrieval.oracle == "none":
        found = replace(_unclear(question, query.unclear), documents=_document_refs(seen), passages=tuple(first))
        return replace(found, resolved=None if resolved.question == asked else resolved.question)
    curation = Curation(first if isinstance(first, AnsweredPassages) else tuple(first), answerable=True)
    rounds: list[tuple[PageRef, ...]] = []
    iterations = 0
    kept = 0
    follow_up: Query | None = None
    followed: dict[str, _Retrieved] = {}
    while loop.curates and iterations < loop.i_max:
        iterations += 1
        passages = curation.kept
        turn = Turn(iterations, iterations == loop.i_max, kept, follow_up)
        curate = partial(roles.curator.curate, query, passages, journal, turn)
        curation = await journal.stage("curate", iterations, curate)
        filters = loop.filter and curation.filtered
        curation = replace(curation, kept=curation.kept[: loop.max_kept] if filters else passages)
        rounds.append(_page_refs(curation.kept))
        wanted = curation.follow_up or curation.complementary
        if curation.answerable or not wanted:
            break
        journal.note(f"iteration {iterations}: missing {'; '.join(curation.missing)}; asking {str(wanted)!r}")
        # Retrieve once more even after the last iteration (Algorithm 1, lines 8-11).
        follow_up, more_documents, more = await _follow(wanted, query, iterations, roles, settings, journal, followed)
        seen.extend(proposed(more_documents, more))
        kept = len(curation.kept)
        curation = replace(curation, kept=_merged(curation.kept, more), plans=(), coverage=None)
        rounds[-1] = _page_refs(curation.kept)
    answer = await journal.stage("answer", iterations, partial(_answer, query, curation, roles, journal))
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
        grid=answer.grid,
        documents=_document_refs(seen),
        passages=tuple(first),
        evidence=answer.evidence,
        evidence_blocks=roles.render(query, answer),
        iterations=iterations,
        rounds=tuple(rounds),
        context=tuple(PassageRef(p.doc_name, p.filing_id, p.page, p.start, p.end) for p in curation.kept),
        resolved=None if resolved.question == asked else resolved.question,
    )


async def _resolved(asked: str, question: Question, roles: Roles, settings: Settings, journal: Journal) -> Resolution:
    """The question to answer, complete in itself."""
    earlier = read_context(question.context, settings.bulk.max_question_characters)
    if not earlier or roles.conversation is None:
        return Resolution(asked)
    resolved = await roles.conversation.resolve(single_spaced(asked), earlier, journal)
    if resolved.question == single_spaced(asked):
        resolved = replace(resolved, question=asked)
    journal.note(f"conversation: {resolved.unclear or resolved.question}")
    return resolved


def _unclear(question: Question, unclear: str) -> Prediction:
    """The reply to a question that may mean several things: it asks which."""
    return Prediction(
        qid=question.qid,
        question=question.question,
        answer=f"The question leaves open {unclear}. Please ask it in full.",
        status="unanswerable",
        missing=(unclear,),
        unclear=unclear,
    )


async def _answer(query: Query, curation: Curation, roles: Roles, journal: Journal) -> Answer:
    answer = curation.answer or await roles.answerer.answer(query, curation, journal)
    checked = roles.check(answer)
    if checked.status != answer.status:
        journal.note(f"answer: {answer.text!r} is refused: {checked.text}")
    return checked


async def _follow(
    wanted: FollowUp | str,
    before: Query,
    iteration: int,
    roles: Roles,
    settings: Settings,
    journal: Journal,
    followed: dict[str, _Retrieved],
) -> _Retrieved:
    """Query, documents and passages for what a curator asks for after the question ``before``.

    ``followed`` has what earlier rounds retrieved: if the index lacks a figure, rules ask for it in every round.
    """
    if isinstance(wanted, str):
        if wanted not in followed or not roles.repeatable:
            followed[wanted] = await retrieve(wanted, iteration, roles, settings, journal)
        return followed[wanted]
    follow_ups = roles.follow_ups
    assert follow_ups is not None, "the curator asks for follow-ups, but no role finds them"
    if not (wanted.spelled.text or wanted.spelled.statements):
        return None, (), await journal.stage("passages", iteration, lambda: follow_ups.near(wanted, (), journal))
    query = await journal.stage("transform", iteration, lambda: follow_ups.read(wanted, before, journal))
    documents, found = await _search(query, iteration, roles, settings, journal)
    near = await journal.stage("passages", iteration, lambda: follow_ups.near(wanted, documents, journal))
    return query, documents, _merged(near, found)


async def retrieve(
    question: str, iteration: int, roles: Roles, settings: Settings, journal: Journal
) -> tuple[Query, Sequence[Document], Sequence[Passage]]:
    """Transform the question, choose documents, choose passages in them. Raises FinrayError."""
    question = single_spaced(question)
    query = await journal.stage("transform", iteration, lambda: roles.reader.read(question, journal))
    return query, *(await _search(query, iteration, roles, settings, journal))


async def _search(
    query: Query, iteration: int, roles: Roles, settings: Settings, journal: Journal
) -> tuple[Sequence[Document], Sequence[Passage]]:
    k = settings.retrieval
    documents = await journal.stage(
        "documents", iteration, lambda: roles.documents.documents(query, k.k_documents, journal)
    )
    passages = await journal.stage(
        "passages", iteration, lambda: roles.passages.passages(query, documents, k.k_passages, journal)
    )
    return documents, passages


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

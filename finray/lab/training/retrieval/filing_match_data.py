"""Training data of the filing match: relations between the filings of a company and questions with evidence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from finray.core.filing import Filing, LineItem
from finray.core.journal import Journal
from finray.core.questions import Question
from finray.engine import Engine
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS
from finray.index.reading.facts import FilingFacts
from finray.lab.training.retrieval.filing_match import FilingChoice
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.lab.training.stored import stored_arrays
from finray.question.companies.catalog import CompanyCatalog
from finray.question.forms import forms_implied
from finray.retrieval.filing_relations import CoverRelations, PeriodRelation, relations

_SAME_VALUE = 0.005


async def filing_choices(
    questions: Sequence[Question], engine: Engine, source: str, progress: Progress
) -> list[FilingChoice]:
    """One choice for each question and company with evidence in the engine's index; qids get the prefix ``source``.

    Figures of a computation over several filings may come from any filing that prints them. Other questions want the
    gold filing. If other filings print the figure too, they are the evidence of a second choice without the gold
    filing, which teaches the value of comparative columns.
    """
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    by_name = {filing.doc_name: filing for filing in engine.reader.filings()}
    choices: list[FilingChoice] = []
    for done, question in enumerate(questions):
        progress(done, len(questions))
        gold = [by_name[name] for name in dict.fromkeys(e.doc_name for e in question.evidence) if name in by_name]
        for company in dict.fromkeys(facts.company_of(filing.filing_id) for filing in gold):
            own = facts.filings_of(company)
            group = facts.company_name(company)
            kinds = await _kinds(question, own, engine)
            ids = [filing.filing_id for filing in own]
            evidence = _evidence(question, own, facts)
            if len(evidence) > 1:
                choices.append(FilingChoice(f"{source}:{question.qid}", group, kinds, _rows(evidence, ids)))
                continue
            (found,) = evidence
            choices.append(FilingChoice(f"{source}:{question.qid}", group, kinds, _rows([found[:1]], ids)))
            rest = [row for row, filing_id in enumerate(ids) if filing_id != found[0]]
            others = _rows([found[1:]], [ids[row] for row in rest])
            if all(others):
                kept = tuple(kinds[row] for row in rest)
                choices.append(FilingChoice(f"{source} without:{question.qid}", group, kept, others))
    progress(len(questions), len(questions))
    return choices


async def _kinds(question: Question, filings: Sequence[Filing], engine: Engine) -> tuple[CoverRelations, ...]:
    query = await engine.roles.reader.read(question.question, Journal())
    implied = forms_implied(query.intents, query.latest)
    ahead = "looks_ahead" in query.intents and not query.source
    return tuple(relations(filing, query.filed, query.forms, implied, ahead=ahead) for filing in filings)


def _rows(evidence: Sequence[Sequence[str]], ids: Sequence[str]) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(ids.index(filing_id) for filing_id in found) for found in evidence)


def _evidence(question: Question, filings: Sequence[Filing], facts: FilingFacts) -> list[list[str]]:
    """For each gold filing among ``filings``, its id and the ids of others that print its figure for its period."""
    items = facts.line_items([filing.filing_id for filing in filings])
    names = dict.fromkeys(evidence.doc_name for evidence in question.evidence)
    gold = [filing for name in names for filing in filings if filing.doc_name == name]
    result: list[list[str]] = []
    for filing in gold:
        shown = _shown(question, filing, items[filing.filing_id], computed=len(gold) > 1)
        others = [
            other.filing_id
            for other in filings
            if other is not filing and any(_same(item, each) for each in items[other.filing_id] for item in shown)
        ]
        result.append([filing.filing_id, *others])
    return result


def _shown(question: Question, filing: Filing, items: Sequence[LineItem], *, computed: bool) -> list[LineItem]:
    """The gold figure of ``filing`` on its gold pages: the answer or, if it is ``computed`` from several filings, the
    newest figure of the gold row."""
    own = [evidence for evidence in question.evidence if evidence.doc_name == filing.doc_name]
    pages = {page for evidence in own for _, page in evidence.places}
    on_pages = [item for item in items if item.page in pages and item.period_end is not None]
    if not computed:
        return [item for item in on_pages if question.value and _alike(item.value, question.value)]
    texts = " ".join(evidence.text or "" for evidence in own)
    of_row = [item for item in on_pages if item.label in texts and item.text in texts]
    newest = max((item.period_end for item in of_row if item.period_end), default=None)
    return [item for item in of_row if item.period_end == newest]


def _alike(a: float, b: float) -> bool:
    return abs(abs(a) - abs(b)) <= _SAME_VALUE * abs(b)


def _same(a: LineItem, b: LineItem) -> bool:
    if a.period_end is None or b.period_end is None or a.months is None or a.months != b.months:
        return False
    return _alike(a.value, b.value) and abs((a.period_end - b.period_end).days) <= DATE_TOLERANCE_DAYS


def save_filing_choices(path: Path, choices: Sequence[FilingChoice]) -> None:
    """Save relations only, without text of questions or filings."""
    numbers: dict[CoverRelations, int] = {}
    records = [
        [
            choice.qid,
            choice.group,
            [numbers.setdefault(kind, len(numbers)) for kind in choice.candidates],
            [sorted(rows) for rows in choice.evidence],
        ]
        for choice in choices
    ]
    kinds = [[[[p.name, p.earlier] for p in k.periods], k.form, k.amendment, k.undated] for k in numbers]
    content = json.dumps({"kinds": kinds, "choices": records}).encode()
    with path.open("wb") as file:
        np.savez_compressed(file, filing_choices=np.frombuffer(content, dtype=np.uint8))


def load_filing_choices(path: Path) -> list[FilingChoice]:
    """Load a file of ``save_filing_choices``. Raises UsageError for any other file."""
    with stored_arrays(path, "filing match") as arrays:
        content: dict[str, Any] = json.loads(arrays["filing_choices"].tobytes())
        kinds = [
            CoverRelations(tuple(PeriodRelation(name, earlier=earlier) for name, earlier in periods), *rest)
            for periods, *rest in content["kinds"]
        ]
        return [
            FilingChoice(qid, group, tuple(kinds[number] for number in numbers), tuple(map(frozenset, evidence)))
            for qid, group, numbers, evidence in content["choices"]
        ]

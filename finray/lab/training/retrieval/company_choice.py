"""Fits ``finray.retrieval.company_model``: which company a question without a known name is about.

Every question with evidence is asked twice: as it is if the catalog knows none of its names, and without the names of
companies. Probes that ask about companies that the index lacks show what no company is meant by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from finray.core.arrays import Floats
from finray.core.bootstrap import estimate
from finray.core.questions import Question
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation.report import shown
from finray.lab.training.choices import ChoiceQuestion, ChoiceTask, HeldOutChoice
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.company_evidence import CompanyEvidence
from finray.retrieval.company_features import SIGNALS, CompanyCandidates, choice_signals

CompanyQuestion: TypeAlias = ChoiceQuestion[CompanyCandidates]
WRONG: Final = 0.02
"""Share of the questions that may get a wrong company, at most."""
_SPACES = re.compile(r"\s{2,}")
_LEFT = re.compile(r"^['’]s?\b|(?<=\s)['’]s?(?=\s)")


def _signals(found: CompanyCandidates, scores: Floats, _best: int, _asked: Floats) -> Floats:
    return choice_signals(found, scores)


COMPANIES: Final = ChoiceTask[CompanyCandidates](SIGNALS, _signals, wrong=WRONG)


def company_questions(
    questions: Sequence[Question], reader: IndexReader, source: str, progress: Progress
) -> list[CompanyQuestion]:
    """What competes for each wording of ``questions``; qids get the prefix ``source``. A probe has no gold company."""
    catalog = CompanyCatalog(reader.filings())
    evidence = CompanyEvidence(reader, catalog)
    owners = {filing.doc_name: catalog.company_of_filing[filing.filing_id] for filing in reader.filings()}
    result: list[CompanyQuestion] = []
    for done, question in enumerate(questions):
        progress(done, len(questions))
        gold = {owners[each.doc_name] for each in question.evidence if each.doc_name in owners}
        probe = question.question_type == "unanswerable_company"
        if not gold and not probe:
            continue
        group = min(gold) if gold else question.qid
        for name, text in wordings(question.question, catalog):
            found = evidence.candidates(text, catalog.mentions(text).unknown)
            right = np.asarray([company in gold for company in found.companies], dtype=bool)
            qid = f"{source}:{question.qid}:{name}"
            result.append(CompanyQuestion(qid, group, found, np.zeros(0), right, right, figure=True, taken=False))
    progress(len(questions), len(questions))
    return result


def wordings(text: str, catalog: CompanyCatalog) -> Iterator[tuple[str, str]]:
    """``text`` as asked if the catalog knows none of its names, else without the names that it knows."""
    mentions = catalog.mentions(text)
    if not mentions.known:
        yield "asked", text
        return
    for span in reversed(mentions.spans):
        text = f"{text[: span.start]} {text[span.end :]}"
    yield "nameless", _SPACES.sub(" ", _LEFT.sub("", text))


def measured(tests: Sequence[HeldOutChoice], questions: Sequence[CompanyQuestion], threshold: float) -> dict[str, Any]:
    """How often the right company comes first, and what the threshold lets through: of questions as asked, of those
    without their names, and of probes, which should get none."""
    probes = {each.qid for each in questions if not each.gold.any() and each.qid.endswith(":asked")}
    kinds = {
        "as asked": [test for test in tests if test.qid.endswith(":asked") and test.qid not in probes],
        "nameless": [test for test in tests if test.qid.endswith(":nameless")],
        "probes": [test for test in tests if test.qid in probes],
    }
    figures: dict[str, Any] = {}
    for kind, own in kinds.items():
        if own:
            sure = [test for test in own if test.probability >= threshold]
            first = {"first": shown(estimate([float(test.right) for test in own]))} if kind != "probes" else {}
            figures[kind] = {
                "n": len(own),
                **first,
                "sure": len(sure),
                "sure and wrong": sum(not t.right for t in sure),
            }
    return figures

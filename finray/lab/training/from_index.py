"""Training data from questions with evidence and the index of their filings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from finray.core.types import GoldEvidence, Question
from finray.index.reader import IndexReader
from finray.lab.training.corpus import Corpus, LeftOut, TrainingQuestion, Unit, UnitKind, looks_like_a_table
from finray.lab.training.similarity import WordSimilarity

_EXCERPT = 1_500
"""Gold text up to this length locates the evidence on the page; a longer one is the whole page."""


def index_corpus(reader: IndexReader, questions: Iterable[Question], kind: UnitKind, source: str) -> Corpus:
    """Questions whose gold pages are in the index, with every page or chunk of their filings.

    For pages, the whole gold page is positive. For chunks, the one most similar to question, answer and gold text is
    positive; other chunks of the page are not used as negatives.
    """
    by_name: dict[str, str] = {}
    for filing in reader.filings():
        by_name[filing.doc_name] = by_name[filing.filing_id] = filing.filing_id
    asked = list(questions)
    wanted = {by_name[e.doc_name] for question in asked for e in question.evidence if e.doc_name in by_name}
    units = _units(reader, wanted, kind)
    pages = {unit.page for document in units.values() for unit in document}
    kept: list[TrainingQuestion] = []
    left: list[LeftOut] = []
    for question in asked:
        gold = [(by_name[e.doc_name], e) for e in question.evidence if e.doc_name in by_name]
        gold = [(filing_id, e) for filing_id, e in gold if _page_key(filing_id, e.page) in pages]
        if not gold:
            reason = "no gold page is in the index" if question.evidence else "it has no evidence"
            left.append(LeftOut(question.qid, reason))
            continue
        documents = tuple(dict.fromkeys(filing_id for filing_id, _ in gold))
        kept.append(
            TrainingQuestion(
                qid=question.qid,
                question=question.question,
                source=source,
                documents=documents,
                gold=tuple(dict.fromkeys(_gold_unit(question, f, e, units[f]) for f, e in gold)),
                spared=frozenset(key for f, e in gold for key in _spared(f, e)),
            )
        )
    documents_used = {document for question in kept for document in question.documents}
    return Corpus(
        units={document: units[document] for document in sorted(documents_used)},
        sources=dict.fromkeys(sorted(documents_used), source),
        questions=tuple(kept),
        left_out=tuple(left),
    )


def _units(reader: IndexReader, filing_ids: set[str], kind: UnitKind) -> dict[str, list[Unit]]:
    result: dict[str, list[Unit]] = defaultdict(list)
    if kind == "pages":
        for row in reader.pages(filing_ids, ["filing_id", "page", "text"]).to_pylist():
            if row["text"].strip():
                key = _page_key(row["filing_id"], row["page"])
                result[row["filing_id"]].append(Unit(key, key, row["text"], looks_like_a_table(row["text"])))
        return result
    for row in reader.chunks(filing_ids, ["filing_id", "page", "start", "text"]).to_pylist():
        page = _page_key(row["filing_id"], row["page"])
        unit = Unit(f"{page}#{row['start']}", page, row["text"], looks_like_a_table(row["text"]))
        result[row["filing_id"]].append(unit)
    return result


def _gold_unit(question: Question, filing_id: str, evidence: GoldEvidence, units: list[Unit]) -> str:
    page = _page_key(filing_id, evidence.page)
    candidates = [unit for unit in units if unit.page == page]
    if len(candidates) == 1:
        return candidates[0].key
    excerpt = evidence.text if evidence.text and len(evidence.text) <= _EXCERPT else ""
    clue = " ".join((question.question, question.answer or "", excerpt))
    scores = WordSimilarity([unit.text for unit in candidates]).to(clue)
    return candidates[int(scores.argmax())].key


def _spared(filing_id: str, evidence: GoldEvidence) -> list[str]:
    return [_page_key(filing_id, page) for page in (evidence.page, *evidence.alternative_pages)]


def _page_key(filing_id: str, page: int) -> str:
    return f"{filing_id}#{page}"

"""Training data from questions with evidence and the index of their filings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from finray.core.questions import GoldEvidence, Question
from finray.index.reading.reader import IndexReader
from finray.lab.training.fine_tuning.corpus import Corpus, LeftOut, TrainingQuestion, Unit, UnitKind, looks_like_a_table
from finray.lab.training.fine_tuning.similarity import WordSimilarity
from finray.retrieval.flat import FilingTitles

_EXCERPT = 1_500
"""Gold text up to this length locates the evidence on the page; a longer one is the whole page."""


def index_corpus(
    reader: IndexReader,
    questions: Iterable[Question],
    kind: UnitKind,
    source: str,
    *,
    gold_tables: bool = False,
    titles: bool = False,
) -> Corpus:
    """Questions whose gold pages are in the index, with every page or chunk of their filings.

    Of pages, the whole gold page is positive. Of the chunks of a gold page, the one most similar to question, answer
    and gold text is positive, and the others are not negatives. With ``gold_tables`` all its tables are positive, and
    questions of LOFin's part "numeric_text" are left out. ``titles`` puts the title of its filing before each chunk.
    """
    by_name: dict[str, str] = {}
    for filing in reader.filings():
        by_name[filing.doc_name] = by_name[filing.filing_id] = filing.filing_id
    asked = list(questions)
    wanted = {by_name[e.doc_name] for question in asked for e in question.evidence if e.doc_name in by_name}
    units = _units(reader, wanted, kind, FilingTitles(reader) if titles else {})
    pages = {unit.page for document in units.values() for unit in document}
    kept: list[TrainingQuestion] = []
    left: list[LeftOut] = []
    for question in asked:
        gold = [(by_name[e.doc_name], e) for e in question.evidence if e.doc_name in by_name]
        gold = [(filing_id, e) for filing_id, e in gold if pages.intersection(_gold_pages(filing_id, e)[:1])]
        if not gold:
            reason = "no gold page is in the index" if question.evidence else "it has no evidence"
            left.append(LeftOut(question.qid, reason))
            continue
        if gold_tables and question.question_type == "numeric_text":
            left.append(LeftOut(question.qid, "its evidence is text"))
            continue
        keys = dict.fromkeys(
            key
            for filing_id, e in gold
            for key in _gold_keys(question, filing_id, e, units[filing_id], gold_tables=gold_tables)
        )
        if not keys:
            left.append(LeftOut(question.qid, "its gold page has no table"))
            continue
        documents = tuple(dict.fromkeys(filing_id for filing_id, _ in gold))
        kept.append(
            TrainingQuestion(
                qid=question.qid,
                question=question.question,
                source=source,
                documents=documents,
                gold=tuple(keys),
                spared=frozenset(key for f, e in gold for key in _gold_pages(f, e)),
            )
        )
    documents_used = {document for question in kept for document in question.documents}
    return Corpus(
        units={document: units[document] for document in sorted(documents_used)},
        sources=dict.fromkeys(sorted(documents_used), source),
        questions=tuple(kept),
        left_out=tuple(left),
    )


def _units(
    reader: IndexReader, filing_ids: set[str], kind: UnitKind, titles: Mapping[str, str]
) -> dict[str, list[Unit]]:
    result: dict[str, list[Unit]] = defaultdict(list)
    if kind == "pages":
        for row in reader.pages(filing_ids, ["filing_id", "page", "text"]).to_pylist():
            if row["text"].strip():
                key = _page_key(row["filing_id"], row["page"])
                result[row["filing_id"]].append(Unit(key, key, row["text"], looks_like_a_table(row["text"])))
        return result
    for row in reader.chunks(filing_ids, ["filing_id", "page", "start", "text"]).to_pylist():
        page = _page_key(row["filing_id"], row["page"])
        text = f"{titles[row['filing_id']]} {row['text']}" if titles else row["text"]
        unit = Unit(f"{page}#{row['start']}", page, text, looks_like_a_table(row["text"]))
        result[row["filing_id"]].append(unit)
    return result


def _gold_keys(
    question: Question, filing_id: str, evidence: GoldEvidence, units: list[Unit], *, gold_tables: bool
) -> list[str]:
    """With ``gold_tables`` all tables of the gold page, otherwise the most similar unit."""
    page = _gold_pages(filing_id, evidence)[0]
    candidates = [unit for unit in units if unit.page == page]
    if gold_tables:
        return [unit.key for unit in candidates if unit.is_table]
    if len(candidates) == 1:
        return [candidates[0].key]
    excerpt = evidence.text if evidence.text and len(evidence.text) <= _EXCERPT else ""
    clue = " ".join((question.question, question.answer or "", excerpt))
    scores = WordSimilarity([unit.text for unit in candidates]).to(clue)
    return [candidates[int(scores.argmax())].key]


def _gold_pages(filing_id: str, evidence: GoldEvidence) -> list[str]:
    """The gold page, then its alternatives."""
    return [_page_key(filing_id, page) for page in evidence.pages]


def _page_key(filing_id: str, page: int) -> str:
    return f"{filing_id}#{page}"

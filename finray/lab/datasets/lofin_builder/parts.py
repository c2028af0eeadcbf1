"""The files of a built benchmark: its parts, splits and summary."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from finray.batch.question_files import write_questions
from finray.core.bootstrap import Estimate, estimate
from finray.core.filing import Filing
from finray.core.questions import Question
from finray.index import layout, schema
from finray.index.reading.reader import IndexReader
from finray.lab.datasets.lofin_builder.build import MULTI_DOCUMENT, PARTS, Agreement, Built, Corpus, Request
from finray.question.companies.catalog import CompanyCatalog
from finray.storage.locations import join, write_bytes


def agreement(agreements: Sequence[Agreement]) -> dict[str, Estimate]:
    """How often each method, and both together, chose the known page, and how often they agree."""
    known = [(each.known, each.found) for each in agreements]
    accepted = [(page, found.agreed) for page, found in known if found.agreed is not None]
    return {
        "words": estimate([found.by_words == page for page, found in known]),
        "meaning": estimate([found.by_meaning == page for page, found in known]),
        "accepted": estimate([found.agreed is not None for _, found in known]),
        "accepted and right": estimate([found.agreed == page for page, found in known]),
        "right of the accepted": estimate([found == page for page, found in accepted]),
    }


def summary(built: Built, corpus: Corpus, set_aside: int) -> dict[str, Any]:
    """Counts as in the paper's tables 9, 12 and 13, and the agreement of found with known gold pages."""
    by_part: dict[str, Counter[str]] = defaultdict(Counter)
    for split, question in built.questions:
        by_part[split][question.question_type or ""] += 1
        if is_multi_document(question):
            by_part[split][MULTI_DOCUMENT] += 1
    return {
        "documents": len(corpus.filings),
        "companies": len(CompanyCatalog(corpus.filings).companies),
        "forms": dict(Counter(filing.form for filing in corpus.filings).most_common()),
        "set_aside": set_aside,
        "questions": len(built.questions),
        "by_part": {split: dict(sorted(parts.items())) for split, parts in sorted(by_part.items())},
        "by_source": dict(sorted(Counter(question.source or "" for _, question in built.questions).items())),
        "unresolved": dict(Counter(f"{each.source}: {each.reason.partition(':')[0]}" for each in built.unresolved)),
        "rewritten": dict(built.by),
        "usage": asdict(built.usage),
        "agreement": {name: asdict(found) for name, found in agreement(built.agreements).items()},
        "unreadable": built.unreadable,
        "bad_records": [{"file": uri, "record": bad.line, "reason": bad.reason} for uri, bad in built.bad],
    }


def is_multi_document(question: Question) -> bool:
    return len({gold.doc_name for gold in question.evidence}) > 1


def write(request: Request, built: Built, corpus: Corpus) -> dict[str, Any]:
    """Write every file under ``request.out``; returns the summary. Raises SourceError."""
    failures = layout.read_table(request.index, schema.FAILURES, columns=["source_uri", "reason", "detail"]).to_pylist()
    for split in sorted({split for split, _ in built.questions}):
        own = [question for each, question in built.questions if each == split]
        for part in PARTS:
            _write_part(request.out, part, split, [question for question in own if question.question_type == part])
        _write_part(request.out, MULTI_DOCUMENT, split, list(filter(is_multi_document, own)))
    documents = ({**_described(filing), "pages": pages} for filing, pages in _with_pages(request.index, corpus))
    _write_lines(join(request.out, "documents.jsonl"), list(documents))
    _write_lines(join(request.out, "set_aside.jsonl"), failures)
    _write_lines(join(request.out, "unresolved.jsonl"), [asdict(each) for each in built.unresolved])
    found = summary(built, corpus, len(failures))
    write_bytes(join(request.out, "summary.json"), json.dumps(found, indent=1, ensure_ascii=False).encode())
    return found


def _write_part(out: str, part: str, split: str, questions: Sequence[Question]) -> None:
    write_questions(join(out, part, f"{split}.jsonl"), questions)


def _with_pages(index: str, corpus: Corpus) -> list[tuple[Filing, int]]:
    counts = IndexReader.open(index).row_counts("pages")
    return [(filing, counts.get(filing.filing_id, 0)) for filing in corpus.filings]


def _described(filing: Filing) -> dict[str, Any]:
    names = ("doc_name", "filing_id", "company", "ticker", "cik", "form", "fiscal_year", "period_end", "source_uri")
    return {name: getattr(filing, name) for name in names}


def _write_lines(uri: str, records: Sequence[Mapping[str, Any]]) -> None:
    lines = (json.dumps(record, default=str, ensure_ascii=False) for record in records)
    write_bytes(uri, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))

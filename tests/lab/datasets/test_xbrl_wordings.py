"""The questions that ship in benchmarks/xbrl_wordings."""

from __future__ import annotations

from pathlib import Path

from finray.batch.question_files import read_questions
from finray.core.questions import Question

FOLDER = Path(__file__).parents[3] / "benchmarks" / "xbrl_wordings"


def test_three_thousand_questions_and_no_filing_in_two_files() -> None:
    sets = {part: list(read_questions(str(FOLDER / f"{part}.jsonl"))) for part in ("develop", "validate", "final")}
    assert {part: len(lines) for part, lines in sets.items()} == {"develop": 1500, "validate": 750, "final": 750}
    questions = [q for lines in sets.values() for q in lines if isinstance(q, Question)]
    assert len({q.qid for q in questions}) == len({q.question for q in questions}) == 3000
    filings = [{g.doc_name for q in lines if isinstance(q, Question) for g in q.evidence} for lines in sets.values()]
    assert sum(map(len, filings)) == len(set.union(*filings)) == 13

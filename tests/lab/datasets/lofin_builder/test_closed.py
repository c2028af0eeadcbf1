"""FinQA's questions with the table and prose of their own record."""

from __future__ import annotations

import json
from pathlib import Path

from finray.batch.question_files import BadLine
from finray.lab.datasets.lofin_builder.closed import ClosedQuestion, read_finqa


def test_a_question_has_the_table_of_its_own_record(tmp_path: Path) -> None:
    qid = "ACME/2016/page_23.pdf-2"
    qa = {"question": "what is the change in revenue?", "answer": "94", "exe_ans": 94.0}
    records = [
        {"id": qid, "table": [["revenue", "1"]], "qa": {}},
        {"id": qid, "table": [["revenue", "5829"]], "qa": qa},
    ]
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(records))
    bad, good = read_finqa(str(path))
    assert isinstance(bad, BadLine) and bad.line == 1
    assert isinstance(good, ClosedQuestion) and good.split == "dev"
    (context,) = good.contexts
    assert (context.ticker, context.year, context.printed) == ("ACME", 2016, 23)
    assert context.table == "revenue | 5829"

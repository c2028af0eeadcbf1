"""A context of TAT-QA as the page of a filing."""

from __future__ import annotations

import datetime as dt
import json

from finray.lab.datasets.tatqa import TatqaContext, read_contexts
from finray.lab.datasets.tatqa_page import view

RECORD = {
    "table": {
        "uid": "t1",
        "table": [["(in millions)", "2019", "2018"], ["Raw materials", "120.5", "100.1"], ["Total", "430.5", "405.3"]],
    },
    "paragraphs": [
        {"uid": "p1", "order": 1, "text": "Inventories of the years ended September 30 were as follows:"},
        {"uid": "p2", "order": 2, "text": "Raw materials rose because resin prices went up."},
    ],
    "questions": [],
}


def test_a_context_has_what_the_answerer_reads_from_an_index() -> None:
    (context,) = read_contexts(json.dumps([RECORD]).encode(), "tatqa.json")
    assert isinstance(context, TatqaContext)
    facts, _, filing = view(context)
    assert (filing.fiscal_year, filing.period_end) == (2019, dt.date(2019, 9, 30))
    place = (filing.filing_id, 0)
    items = facts.line_items([filing.filing_id])[filing.filing_id]
    assert [(item.label, item.text, item.scale) for item in items][:2] == [
        ("Raw materials", "120.5", 10**6),
        ("Raw materials", "100.1", 10**6),
    ]
    assert "resin prices" in facts.pages([place])[place].text
    (page,) = facts.indexed_pages([place])
    assert len(page.vectors) == len(page.spans) > 0
    assert "".join(passage.text for passage in facts.passages_of(*place)).count("Raw materials") >= 2

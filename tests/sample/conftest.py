from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from finray.sample.generate import SampleSummary, generate_sample
from finray.sample.plan import drafts
from finray.sample.printing import PrintedFiling, print_filing
from tests.sample.planning import plans_of

ARGUMENTS: dict[str, Any] = {"companies": 4, "years": 2, "seed": 7, "questions": 120}
FORMATS = ("pdf", "html", "submission")


@dataclass(frozen=True)
class Sample:
    """A small generated folder and what should be in it."""

    folder: Path
    summary: SampleSummary
    questions: list[dict[str, Any]]
    filings: dict[str, PrintedFiling]


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    folder = tmp_path_factory.mktemp("sample")
    summary = generate_sample(folder, **ARGUMENTS, formats=FORMATS, workers=1)
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    printed = [print_filing(draft, FORMATS, 7)[0]
               for plan in plans_of(companies=4, years=2, seed=7) for draft in drafts(plan)]
    return Sample(folder, summary, [json.loads(line) for line in lines], {each.doc_name: each for each in printed})

"""Small filings of every kind that once went wrong, all in one index, so that look-alikes compete: from the file to the
answer. What is asked and what is right stands beside each filing, in ``tests/small_filings``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import finray
from finray.core.predictions import Prediction
from finray.core.settings import Settings
from finray.index.job.in_process import index_in_process
from tests.small_filings import cells, columns, documents, layouts, variants
from tests.small_filings.made import Gold, Made, Sheet, is_right

pytestmark = pytest.mark.slow

FILINGS = [
    (f"{module.__name__.rpartition('.')[2]}, {kind}", made)
    for module in (cells, columns, documents, layouts, variants)
    for kind, of_kind in module.KINDS.items()
    for made in of_kind
]
ASKED = [
    pytest.param(question, gold, id=f"{kind}: {question}") for kind, made in FILINGS for question, gold in made.asked
]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory, local_settings: Settings) -> Iterator[Callable[[str], Prediction]]:
    folder = tmp_path_factory.mktemp("small")
    (folder / "filings").mkdir()
    for _, made in FILINGS:
        made.write(folder / "filings")
    assert not index_in_process([str(folder / "filings")], str(folder / "index"), local_settings).failures
    with finray.open_index(str(folder / "index"), local_settings) as index:
        yield index.ask


@pytest.mark.parametrize(("question", "gold"), ASKED)
def test_what_the_filing_prints_is_answered(ask: Callable[[str], Prediction], question: str, gold: Gold) -> None:
    found = ask(question)
    assert is_right(gold, found.value, found.unit, found.answer), (found.value, found.unit, found.answer)


WHOLE = Made(
    "Zeal Monachorum Inks Inc",
    [
        Sheet(
            ("CONSOLIDATED STATEMENTS OF OPERATIONS", "(In thousands)"),
            ("2024 | 2023",),
            "Revenues | 9,110 | 8,870\nOperating income | 640 | 610\nNet income | 402 | 388",
        )
    ],
    [],
    others=[("EX-99", "<html><body><p>Press release.</p></body></html>")],
)


@pytest.mark.parametrize(
    "mark", ["Operating income", "</TEXT>", "</DOCUMENT>", "Press release", "<TYPE>EX-99", "</SEC-DOCUMENT>"]
)
def test_a_submission_that_ends_early_is_a_failure(tmp_path: Path, local_settings: Settings, mark: str) -> None:
    path = WHOLE.write(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index(mark)], encoding="utf-8")
    done = index_in_process([str(path)], str(tmp_path / "index"), local_settings)
    assert [failure.reason for failure in done.failures] == ["truncated"]

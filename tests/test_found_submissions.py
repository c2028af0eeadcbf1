"""Text files on which figures went wrong, from the file to the answer."""

from pathlib import Path

import pytest

import finray
from finray.core.settings import load_settings
from finray.index.job.in_process import index_in_process

pytestmark = [pytest.mark.shared, pytest.mark.slow]

CASES = [
    (
        "text-filing-tables-unread/0000910002-97-000002.txt",
        "What were Bedlinog Tape's net sales in fiscal 1996?",
        "148.9",
    ),
    ("text-filing-tables-unread/0000900008-97-000002.txt", "What was Vellacott Disk's net loss in 1996?", "-$2.4"),
    ("exhibits-of-submission-dropped/0000900001-25-000001.txt", "What was Penrose Watch's revenue in 2024?", "$120.5"),
    (
        "exhibits-of-submission-dropped/0000885245-24-000114.txt",
        "What was Buckle's net income for the third quarter of fiscal 2024?",
        "$44.2 million",
    ),
    (
        "single-document-block/BuckleInc.8-K.EX99.1.html",
        "What was Buckle's net income for the third quarter of fiscal 2024?",
        "$44.2 million",
    ),
    ("pointer-only-10k/ibm-10k-2024-cut.htm", "What was IBM's revenue in 2024?", "Not found"),
    ("pointer-only-10k/ibm-10k-2024-cut.htm", "What was IBM's inventory in 2024?", "Not found"),
]


@pytest.mark.parametrize(("name", "question", "expected"), CASES)
def test_the_printed_figure_is_answered(
    shared_data: Path, tmp_path: Path, name: str, question: str, expected: str
) -> None:
    path = shared_data / "found" / name
    if not path.exists():
        pytest.skip(f"no {path}")
    uri = str(tmp_path / "index")
    settings = load_settings("local", {})
    assert not index_in_process([str(path)], uri, settings).failures
    with finray.open_index(uri) as library:
        assert expected in library.ask(question).answer

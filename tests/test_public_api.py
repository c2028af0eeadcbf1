"""``import finray`` as a program of somebody else's uses it."""

from __future__ import annotations

import ast
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import finray
from finray import library

SETTINGS = finray.load_settings(overrides={"encoder.model": "hash", "index.in_process": True}, environment={})


def test_every_public_name_is_there_sorted_and_described() -> None:
    assert finray.__all__ == sorted(finray.__all__) == library.__all__
    assert set(finray.__all__) <= set(dir(finray))
    for name in finray.__all__:
        assert inspect.getdoc(getattr(finray, name))
    with pytest.raises(AttributeError, match="no attribute 'open_indexes'"):
        finray.open_indexes  # noqa: B018


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(finray.__file__).read_text(encoding="utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    (imported,) = (node for node in guarded.body if isinstance(node, ast.ImportFrom))
    assert [alias.name for alias in imported.names] == finray.__all__


def test_every_public_name_is_on_the_page() -> None:
    page = (Path(__file__).parents[1] / "docs" / "python-api.md").read_text(encoding="utf-8")
    assert [name for name in finray.__all__ if f"::: finray.{name}\n" not in page] == []


def test_importing_it_loads_nothing() -> None:
    code = "import sys; before = {*sys.modules}; import finray; print(*sorted({*sys.modules} - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names} <= {"finray"}


def test_filings_are_indexed_without_ray_and_questions_answered_without_torch(
    sample_folder: Path, tmp_path: Path
) -> None:
    """Torch takes three seconds and 200 MB."""
    (filing,) = (sample_folder / "filings").glob("grevandor*2022-10k.htm")
    code = (
        "import sys, finray; "
        "settings = finray.load_settings(overrides={'encoder.model': 'static'}); "
        "summary = finray.index_filings(sys.argv[1:2], sys.argv[2], settings); "
        "print(summary.indexed, {'ray', 'torch'} & sys.modules.keys()); "
        "index = finray.open_index(sys.argv[2], settings); "
        "answers = [index.ask(asked).status for asked in "
        "('What were total assets of Grevandor in 2022?', 'Why did sales of Grevandor change in 2022?')]; "
        "print(len(answers), {'torch', 'transformers', 'sentence_transformers'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", code, str(filing), str(tmp_path / "index")]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"RAY_ADDRESS": ""})
    assert ended.stdout == "1 set()\n2 set()\n"


def test_from_filings_to_answers(sample_folder: Path, tmp_path: Path) -> None:
    uri = str(tmp_path / "index")
    (filing,) = (sample_folder / "filings").glob("grevandor*2022-10k.htm")
    summary = finray.index_filings([str(filing)], uri, SETTINGS)
    assert (summary.indexed, summary.failed) == (1, 0)
    with finray.open_index(uri, SETTINGS) as index:
        prediction = index.ask("What was Grevandor Systems' revenue in fiscal 2022?")
        assert (prediction.status, prediction.value) == ("answered", 1_408_729_000)
        assert index.ask("  ").status == "error"
        found = index.retrieve("Grevandor Systems revenue 2022", k_passages=3)
        assert [document.filing.doc_name for document in found.documents] == [prediction.evidence[0].doc_name]
        assert 0 < len(found.passages) <= 3
        elsewhere = finray.FilingFilter(fiscal_years=(1999,))
        assert index.retrieve("Grevandor Systems revenue 2022", filings=elsewhere).passages == ()
        assert index.ask("What was Grevandor Systems' revenue in fiscal 2022?", filings=elsewhere).status != "answered"


@pytest.mark.slow
async def test_it_can_be_called_inside_a_running_loop(sample_index: str, tmp_path: Path) -> None:
    with finray.open_index(sample_index, SETTINGS) as index:
        assert index.ask("What was Grevandor Systems' revenue in fiscal 2022?").status == "answered"
    out = str(tmp_path / "predictions.jsonl")
    asked = [finray.Question("a", "What was Grevandor Systems' revenue in fiscal 2022?"), finray.Question("b", "")]
    summary = finray.answer_many(asked, sample_index, out, SETTINGS, workers=0)
    assert (summary.answered, summary.errors) == (1, 1)
    assert [p.qid for p in finray.read_predictions(out).predictions] == ["a", "b"]
    assert finray.answer_many(asked, "gone", out, SETTINGS, workers=0).resumed == 2


def test_a_file_of_questions_is_answered_and_half_a_line_reported(sample_index: str, tmp_path: Path) -> None:
    questions, out, remarks = tmp_path / "questions.jsonl", tmp_path / "predictions.jsonl", list[str]()
    finray.write_questions(str(questions), [finray.Question("a", "Revenue of Grevandor Systems in fiscal 2022?")])
    finray.answer_many(str(questions), sample_index, str(out), SETTINGS, workers=0, remark=remarks.append)
    assert remarks == []
    out.write_text(out.read_text(encoding="utf-8") + json.dumps({"qid": "b"})[:5], encoding="utf-8")
    finray.answer_many(str(questions), sample_index, str(out), SETTINGS, workers=0, remark=remarks.append)
    assert len(remarks) == 1 and "half a line" in remarks[0]


def test_errors_have_one_base(tmp_path: Path) -> None:
    with pytest.raises(finray.FinrayError, match="no index"):
        finray.open_index(str(tmp_path), SETTINGS)

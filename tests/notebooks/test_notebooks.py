"""The notebooks run from top to bottom, on any machine, and say what they promise."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
NAMES = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))
EXPECTED = {
    "quickstart.ipynb": ("gold:", "-10k, p. ", "unanswerable - ", "0 errors", "page_recall@5"),
    "evaluation.ipynb": (
        "local minus the other",
        "local: page recall @1",
        "wrong filing",
        "after iteration 1",
        "<iframe",
    ),
}


def test_the_notebooks_are_the_known_ones() -> None:
    assert sorted(EXPECTED) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_not_committed(name: str) -> None:
    """They would hold times and folders of whoever ran them last, and drift from the code unseen."""
    notebook = read(name)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not re.search(r"(?<![\w.])/(?:work|home|root|tmp|Users)/", cell.source)
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize("name", NAMES)
def test_what_they_import_exists(name: str) -> None:
    """Seen at once, not only by the slow test that runs them: whoever renames a function runs the everyday tests."""
    source = "\n".join(cell.source for cell in read(name).cells if cell.cell_type == "code")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("finray"):
            module = importlib.import_module(node.module)
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == [], node.module


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("default")  # those of Jupyter's own libraries are not ours
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_from_top_to_bottom(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient

    for variable in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR", "TMPDIR"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    notebook = read(name)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=480, startup_timeout=300, kernel_name="python3", resources=resources).execute()
    printed = [text for cell in notebook.cells if cell.cell_type == "code" for text in map(shown, cell.outputs)]
    for expected in EXPECTED[name]:
        assert expected in "\n".join(printed), expected


def read(name: str) -> nbformat.NotebookNode:
    notebook: nbformat.NotebookNode = nbformat.read(NOTEBOOKS / name, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def shown(output: nbformat.NotebookNode) -> str:
    if output.output_type == "stream":
        return str(output.text)
    return "\n".join(map(str, output.get("data", {}).values()))

"""Generated reference pages are complete and up to date, and a missing description is an error."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel

from finray.api.app import openapi_text
from finray.core.settings import ChunkSettings
from tools.generate_docs import DOCS, PAGES
from tools.reference.cli import cli_page
from tools.reference.http_api import http_api_page
from tools.reference.settings import settings_page
from tools.reference.tables import table


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    present = (DOCS / name).read_text(encoding="utf-8")
    assert PAGES[name](present) == present, f"docs/{name} differs from the code: run `make docs` and commit it"


def test_every_command_has_a_section_and_a_shared_option_is_described_once() -> None:
    page = cli_page("")
    for command in ("ask", "keys add", "train reranker"):
        assert f"\n### finray {command}\n" in page
    assert page.count("* `--json`: Print JSON instead of text.") == 1
    assert "Also `--preset`, `--set`" in page


def test_a_setting_is_listed_with_its_bounds_default_and_docstring() -> None:
    page = settings_page("")
    assert "| `chunks.size` | int, ≥ 64 | `1024` | Length of a chunk, at most. |" in page
    assert '| `llm.vllm.quantization` | str | `""` |' in page
    (presets,) = (
        line for line in page.splitlines() if line.startswith("| `retrieval.method` | ") and "str" not in line
    )
    assert {'`"hirec"`', '`"page_scorer"`', ""} <= {cell.strip() for cell in presets.split("|")[2:-1]}


def test_a_setting_without_a_docstring_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bare(ChunkSettings):
        step: int = 1

    class Sections(BaseModel):
        chunks: Bare = Bare()

    Bare.__module__ = "finray.core.settings"
    monkeypatch.setattr("tools.reference.settings.Settings", Sections)
    monkeypatch.setattr("tools.reference.settings.inspect.getsource", lambda _: "class Bare:\n    step: int = 1\n")
    with pytest.raises(ValueError, match=r"no docstring below Bare\.unit, Bare\.size, Bare\.overlap, Bare\.step"):
        settings_page("")


def test_every_route_and_object_of_the_service_has_a_section() -> None:
    described = json.loads(openapi_text())
    page = http_api_page("")
    for path, operations in described["paths"].items():
        for method in operations:
            assert f"\n### {method.upper()} {path}\n" in page
    for name in described["components"]["schemas"]:
        assert f"\n### {name}\n" in page


def test_a_cell_cannot_end_its_column() -> None:
    assert table(["a"], [["x|y"]]).splitlines()[-1] == r"| x\|y |"

"""The snippets of docs/integrations.md run as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("langchain_core")
pytest.importorskip("llama_index.core")

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")


def snippets(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_snippets_run(
    sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my-index").symlink_to(sample_index)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FINRAY_ENCODER__MODEL", "hash")
    langchain, service, tool, llamaindex = snippets("python")
    names: dict[str, object] = {}
    exec(langchain, names)
    assert len(re.findall(r"\([\w-]+-2022-10k\), p\. \d+ ", capsys.readouterr().out)) == 5
    exec(tool, names)
    shown = names["tool"].invoke("What was the total revenue in fiscal 2022?")  # type: ignore[attr-defined]
    assert len(re.findall(r"\), p\. \d+\n", shown)) == 5
    names["index"].close()  # type: ignore[attr-defined]
    exec(service, names)
    exec(llamaindex, names)
    assert len(re.findall(r"\), p\. \d+\n", capsys.readouterr().out)) == 5
    names["index"].close()  # type: ignore[attr-defined]


def test_the_configurations_are_json() -> None:
    local, remote = (json.loads(text)["mcpServers"]["finray"] for text in snippets("json"))
    assert (local["command"], local["args"][0]) == ("finray", "mcp")
    assert remote["url"].endswith("/mcp")

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from html import unescape
from typing import Any

import pymupdf
import pytest

from finray.lab.sample.generate import SampleSummary, generate_sample
from finray.lab.sample.render_html import PAGE_BREAK


def _page_texts(content: bytes) -> list[str]:
    if content.startswith(b"%PDF"):
        with pymupdf.open(stream=content, filetype="pdf") as document:  # type: ignore[no-untyped-call]
            pages = [str(page.get_text()) for page in document]
    else:
        main = content.decode().split("</DOCUMENT>")[0]
        pages = [unescape(re.sub(r"<[^>]+>", " ", page)) for page in main.split(PAGE_BREAK)]
    # Tags and cells part a parenthesis from its number, and a word from its full stop.
    return [re.sub(r" ([.,;)])", r"\1", " ".join(page.split())).replace("( ", "(") for page in pages]


@pytest.fixture(scope="session")
def page_texts() -> Callable[[bytes], list[str]]:
    """Words of each page, by means that share nothing with the generator; white space is one space."""
    return _page_texts


@pytest.fixture(scope="session")
def arguments() -> dict[str, Any]:
    return {"companies": 4, "years": 2, "seed": 7, "questions": 120, "formats": ("pdf", "html", "txt")}


@pytest.fixture(scope="session")
def summary(tmp_path_factory: pytest.TempPathFactory, arguments: dict[str, Any]) -> SampleSummary:
    """A small sample on disk."""
    return generate_sample(tmp_path_factory.mktemp("sample"), **arguments, workers=1)


@pytest.fixture(scope="session")
def questions(summary: SampleSummary) -> list[dict[str, Any]]:
    lines = (summary.folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def gold_page(summary: SampleSummary) -> Callable[[dict[str, Any]], str]:
    """The text of the page that an evidence entry points to."""

    @cache
    def pages(doc_name: str) -> list[str]:
        (path,) = (summary.folder / "filings").glob(f"{doc_name}.*")
        return _page_texts(path.read_bytes())

    return lambda gold: pages(gold["doc_name"])[gold["page"]]

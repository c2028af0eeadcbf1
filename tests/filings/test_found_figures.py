"""Small filings on which figures once went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import finray
from finray.core.settings import Settings
from finray.index.job.in_process import index_in_process

FOUND = (
    ("footnote-mark-on-figure", "What were Bexhill Optics' revenues in 2024?", 120_450e3),
    ("footnote-mark-on-figure", "What was Bexhill Optics' diluted EPS in 2024?", 2.1),
    ("footnote-mark-on-figure", "What was Marrowbone Coffee's operating income in 2024?", 30_130e3),
    ("footnote-mark-on-figure", "What was Marrowbone Coffee's diluted EPS in 2024?", 2.1),
    ("note-column-read-as-figure", "What was Alderpoint Mining's intangible assets at December 31, 2024?", 5_123e3),
    ("note-column-read-as-figure", "What was Loncor's property, plant and equipment at December 31, 2015?", 82_075),
    ("pdf-doubled-or-turned-page", "What were Ironbark Timber's revenues in 2024?", 120_450e3),
    ("pdf-doubled-or-turned-page", "What was Rydal Pencil's income tax expense in 2024?", -6_010e3),
    ("pdf-doubled-or-turned-page", "What was Selworthy Thatch's income tax expense in 2024?", -6_010e3),
    ("per-share-scaled", "What was Bellweather Media's diluted EPS for Class A in 2024?", 4.05),
    ("per-share-scaled", "What was Bellweather Media's basic EPS for Class B in 2023?", 3.32),
    ("thousands-separator-of-europe", "What were Oxbow Ferries' revenues in 2024?", 120_450e3),
    ("thousands-separator-of-europe", "What were Eskdale Cement's revenues in 2024?", 120_450e3),
)  # fmt: skip
"""Folder, question, right answer."""


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("kind", sorted({kind for kind, _, _ in FOUND}))
def test_figures_are_answered_as_printed(
    kind: str, shared_data: Path, tmp_path: Path, local_settings: Settings
) -> None:
    folder = shared_data / "found" / kind
    if not folder.is_dir():
        pytest.skip(f"no filings at {folder}")
    index_in_process([str(folder)], str(tmp_path / "index"), local_settings)
    with finray.open_index(str(tmp_path / "index"), local_settings) as index:
        answers = {question: index.ask(question).value for of, question, _ in FOUND if of == kind}
    assert answers == pytest.approx({question: value for of, question, value in FOUND if of == kind})

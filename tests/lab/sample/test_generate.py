from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from finray.core.errors import UsageError
from finray.lab.sample.generate import SampleSummary, generate_sample


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_with_any_number_of_workers(
    summary: SampleSummary, arguments: dict[str, Any], tmp_path: Path
) -> None:
    generate_sample(tmp_path, **arguments, workers=2)
    assert digests(tmp_path) == digests(summary.folder)


def test_another_seed_gives_other_companies(summary: SampleSummary, tmp_path: Path) -> None:
    generate_sample(tmp_path, companies=1, years=1, seed=8, questions=0)
    assert not digests(tmp_path).keys() & {name for name in digests(summary.folder) if name.startswith("filings/")}


def test_the_summary_counts_what_was_written(summary: SampleSummary) -> None:
    files = list((summary.folder / "filings").iterdir())
    assert summary.n_filings == len(files)
    assert summary.n_questions == 120
    assert {path.suffix for path in files} == {".pdf", ".htm", ".txt"}
    assert {"10-K", "10-Q", "8-K", "10-K/A"} <= summary.filings.keys()


def test_a_sample_can_be_written_again_in_place(tmp_path: Path) -> None:
    for _ in range(2):
        generate_sample(tmp_path, companies=1, years=1, questions=3)
    with pytest.raises(UsageError, match="already holds other filings"):
        generate_sample(tmp_path, companies=2, years=1, questions=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"companies": 0}, "companies = 0"), ({"years": 99}, "years = 99"), ({"formats": ("docx",)}, "docx")],
)
def test_arguments_out_of_range_are_named(tmp_path: Path, arguments: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        generate_sample(tmp_path, **arguments)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_progress_is_reported_company_by_company(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    generate_sample(tmp_path, companies=2, years=1, questions=0, progress=lambda *counts: calls.append(counts))
    assert calls == [(1, 2), (2, 2)]

"""Covers that were changed as filers, PDF printers and OCR change them are read as the covers they were."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pymupdf
import pytest

from finray.core.settings import FilingSettings
from finray.filings.cover.page import read_cover
from finray.filings.html.pages import parse_html, split_pages
from finray.lab.sample.plan import drafts, make_plans
from finray.lab.sample.printing import print_filing
from tests.filings.cover.cover_mutations import DEVELOP, HELD_OUT, Cover, Mutation, several

KINDS = {**DEVELOP, **HELD_OUT}


@pytest.fixture(scope="module")
def generated() -> list[Cover]:
    """An annual, a quarterly and a current report of each of four companies."""
    covers: list[Cover] = []
    for plan in make_plans(4, 1, seed=5, full=False):
        forms: dict[str, Cover] = {}
        for draft in drafts(plan):
            if draft.form in ("10-K", "10-Q", "8-K") and draft.form not in forms:
                pages = split_pages(parse_html(print_filing(draft, ("html",), seed=5)[1]), FilingSettings())
                texts = tuple(page.text for page in pages)
                forms[draft.form] = Cover(draft.doc_name, texts, draft.registrant, draft.form, draft.end)
        covers += forms.values()
    return covers


def recall(covers: Sequence[Cover], kinds: Mapping[str, Mutation], seeds: int = 1) -> tuple[Counter[str], int]:
    """How often company, form, period and all of them are right, and how often a kind applied to a cover."""
    right: Counter[str] = Counter()
    count = 0
    for kind, mutation in kinds.items():
        for cover in covers:
            for seed in range(seeds):
                changed = mutation(cover, random.Random(f"{kind} {cover.name} {seed}"))
                if changed is not None:
                    score = changed.score(read_cover(changed.texts))
                    right.update(fact for fact, ok in score.items() if ok)
                    right["all"] += all(score.values())
                    count += 1
    return right, count


def test_unchanged_covers_are_read(generated: list[Cover]) -> None:
    right, count = recall(generated, {"as it is": KINDS["as it is"]})
    assert right["all"] == count == 12


@pytest.mark.parametrize("kind", KINDS)
def test_changed_covers_are_read(generated: list[Cover], kind: str) -> None:
    right, count = recall(generated, {kind: KINDS[kind]})
    assert right["form"] == right["period"] == count
    assert right["company"] >= 0.9 * count


def test_covers_that_were_changed_in_three_ways_are_read(generated: list[Cover]) -> None:
    right, count = recall(generated, {"three": several(list(KINDS.values()), 3)}, seeds=6)
    assert right["all"] >= 0.85 * count


@pytest.mark.slow
@pytest.mark.shared
def test_real_covers_are_read_after_every_change(shared_data: Path) -> None:
    covers: list[Cover] = []
    for name in ("AMCOR_2023Q2_10Q", "MICROSOFT_2016_10K", "PEPSICO_2023_8K_dated-2023-05-05", "JPMORGAN_2021Q1_10Q"):
        with pymupdf.open(shared_data / "financebench" / "pdfs" / f"{name}.pdf") as document:  # type: ignore[no-untyped-call]
            texts = tuple(document[number].get_text() for number in range(min(12, document.page_count)))
        facts = read_cover(texts)
        assert facts.company and facts.form and facts.period_end
        covers.append(Cover(name, texts, facts.company, facts.form, facts.period_end))
    right, count = recall(covers, KINDS)
    assert count > 120
    assert all(right[fact] >= 0.97 * count for fact in ("company", "form", "period"))

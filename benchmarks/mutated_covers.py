"""Recall of cover facts after mutations of covers as filers, PDF printers and OCR produce them.

    PYTHONPATH=. python benchmarks/mutated_covers.py ../shared/data/financebench/pdfs ../shared/data/edgar/html

The facts of the unchanged cover count as right (``cover_facts.py`` checks them). Kinds of mutations and companies are
both split in two halves; the cover reader was developed with the first half of each. Prints recall in percent.
"""

from __future__ import annotations

import argparse
import random
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pymupdf

from finray.core.settings import FilingSettings
from finray.filings.cover.page import read_cover
from finray.filings.html.pages import parse_html, split_pages
from tests.filings.cover.cover_mutations import DEVELOP, HELD_OUT, Cover, Mutation, several

_FACTS = ("company", "form", "period")
_SEEDS = range(2)


def load(path: Path) -> Cover | None:
    """The unchanged cover of a filing; None if it has none (an earnings release) or was not fully read."""
    if path.suffix == ".pdf":
        with pymupdf.open(path) as document:  # type: ignore[no-untyped-call]
            texts = [page.get_text() for page in document]
    else:
        texts = [page.text for page in split_pages(parse_html(path.read_bytes()), FilingSettings())]
    return as_cover(path.stem, texts)


def as_cover(name: str, texts: Sequence[str]) -> Cover | None:
    facts = read_cover(texts)
    if facts.company is None or facts.period_end is None or facts.form not in ("10-K", "10-Q", "8-K"):
        return None
    flat = re.sub(r"\W", "", facts.company).lower()
    page = next((i for i, text in enumerate(texts) if re.search(r"form\s+(10|8)", text, re.I)
                 and flat in re.sub(r"\W", "", text).lower() and "xact name" in text), 0)  # fmt: skip
    return Cover(name, tuple(texts), facts.company, facts.form, facts.period_end, page)


def company_of(name: str) -> str:
    return re.split(r"[_.-]", name)[0].upper()


def halves(covers: Iterable[Cover]) -> tuple[list[Cover], list[Cover]]:
    """Covers of the companies that the reader was developed with, and of the others."""
    first: list[Cover] = []
    second: list[Cover] = []
    for cover in covers:
        (second if zlib.crc32(company_of(cover.name).encode()) % 2 else first).append(cover)
    return first, second


def measure(covers: Sequence[Cover], kinds: Mapping[str, Mutation]) -> dict[str, tuple[int, dict[str, float]]]:
    """For each kind, the number of covers that it applies to and the recall of each fact."""
    results = {}
    three = several(list(kinds.values()), 3)
    for kind, mutation in {**kinds, "three at once": three}.items():
        right: defaultdict[str, int] = defaultdict(int)
        count = 0
        for cover in covers:
            for seed in _SEEDS:
                changed = mutation(cover, random.Random(f"{kind} {cover.name} {seed}"))
                if changed is None:
                    continue
                count += 1
                score = changed.score(read_cover(changed.texts))
                for fact, ok in (score | {"all": all(score.values())}).items():
                    right[fact] += ok
        results[kind] = (count, {fact: right[fact] / count for fact in (*_FACTS, "all")} if count else {})
    return results


def show(title: str, results: Mapping[str, tuple[int, Mapping[str, float]]]) -> None:
    print(f"\n{title:36} {'n':>5} " + " ".join(f"{fact:>8}" for fact in (*_FACTS, "all")))
    found = {kind: (count, shares) for kind, (count, shares) in results.items() if count}
    for kind, (count, shares) in found.items():
        print(f"{kind:36} {count:5} " + " ".join(f"{100 * shares[fact]:8.1f}" for fact in (*_FACTS, "all")))
    if found:
        means = (sum(shares[fact] for _, shares in found.values()) / len(found) for fact in (*_FACTS, "all"))
        print(f"{'mean of kinds':36} {'':5} " + " ".join(f"{100 * mean:8.1f}" for mean in means))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    folders: list[Path] = parser.parse_args().folders
    paths = sorted(path for folder in folders for path in folder.iterdir() if path.is_file())
    first, second = halves(cover for cover in map(load, paths) if cover is not None)
    for title, covers in (("companies seen", first), ("companies held out", second)):
        show(f"{title}, kinds seen", measure(covers, DEVELOP))
        show(f"{title}, kinds held out", measure(covers, HELD_OUT))


if __name__ == "__main__":
    main()

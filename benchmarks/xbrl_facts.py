"""Compares the tagged numbers that finray reads in EDGAR HTML with those of the XBRL processor Arelle.

    python -m venv arelle && arelle/bin/pip install arelle-release==2.47.3 word2number==1.1
    python benchmarks/xbrl_facts.py --arelle arelle/bin/python FILINGS... [--examples]

FILINGS are files (or folders of files) as EDGAR serves them; those without inline XBRL are left out. First each
``ix:nonFraction`` as finray reads it is compared with Arelle's fact of the same id: value and sign, unit, period,
dimensions, nil. Then each fact of Arelle is looked for among the line items of the parsed filing: by concept, period,
part of the company, unit and value with the tag's sign. What is not equal is counted by an explanation, or as
unexplained, and the exit status is 1 if anything is.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from finray.core.filing import LineItem
from finray.core.settings import FilingSettings, load_settings
from finray.filings.cover.submission import parse_submission
from finray.filings.html import inline_xbrl
from finray.filings.html.pages import hidden_id, parse_html, split_pages
from finray.filings.html.tree import Element
from finray.filings.read import parse_filing
from finray.filings.sniff import sniff
from finray.filings.tables.tags import PERCENT, Context, in_unit, item_unit, part_of

ASPECTS: Final = ("value and sign", "unit", "period", "dimensions", "nil")
_NO_FACT: Final = "invalid: a tag without id, or one that Arelle does not load"
_INVALID: Final = "invalid: its context or unit is not in the file"
Counts = Counter[tuple[str, str]]
"""By aspect, or part of the comparison, and outcome: "equal" or an explanation."""


def arelle_facts(python: str, paths: Sequence[Path]) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """The facts of each document by Arelle, which runs in the environment of ``python``."""
    script = Path(__file__).with_name("arelle_facts.py")
    command = [python, str(script), *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"Arelle failed: {run.stderr[-2000:]}")
    version, *filings = map(json.loads, run.stdout.splitlines())
    print(f"Arelle {version['arelle']}\n")
    for path, filing in zip(paths, filings, strict=True):
        yield path, filing["facts"]


def compare_tags(root: Element, theirs: Mapping[str, Mapping[str, Any]], counts: Counts) -> Iterator[str]:
    """Count each aspect of each tagged number; yields those that differ."""
    contexts, units = inline_xbrl.contexts(root), inline_xbrl.units(root)
    for element in root.iter(inline_xbrl.TAGGED_NUMBER):
        other = theirs.get(element.get("id") or "")
        if other is None:
            counts["value and sign", _NO_FACT] += 1
            continue
        if not _refers(other):
            counts["value and sign", _INVALID] += 1
            continue
        fact = inline_xbrl.numeric_fact(element, units)
        counts["nil", "equal" if other["nil"] == inline_xbrl.is_nil(element) else "unexplained"] += 1
        if fact is None or other["nil"]:
            if fact is not None or not other["nil"]:
                counts["value and sign", "unexplained"] += 1
                yield f"not read: {other}" if fact is None else f"nil, but read: {other}"
            continue
        context = contexts.get(fact.context)
        equal = {
            "value and sign": Decimal(repr(fact.value)) == Decimal(other["value"]),
            "unit": fact.unit == _unit(other),
            "period": context is not None and (context.start, context.end) == _period(other),
            "dimensions": context is not None and [list(member) for member in context.members] == other["members"],
        }
        for aspect, same in equal.items():
            counts[aspect, "equal" if same else "unexplained"] += 1
            if not same:
                yield f"{aspect}: {fact} {context} {other}"


def compare_items(
    items: Iterable[LineItem],
    theirs: Iterable[Mapping[str, Any]],
    on_pages: set[str],
    counts: Counts,
) -> Iterator[str]:
    """Count the facts of Arelle that are, and are not, among the tagged line items; yields the others."""
    known: dict[tuple[object, ...], list[float | None]] = defaultdict(list)
    for item in items:
        if item.concept is not None:
            label = item.column_label or ""
            part = label[label.rfind("[") + 1 : -1] if label.endswith("]") else None
            known[item.concept, item.period_end, item.months == 0, part, item.unit].append(item.tagged)
    concepts = {concept for concept, *_ in known}
    for fact in theirs:
        if not _refers(fact):
            counts["line items", _INVALID] += 1
            continue
        start, end = _period(fact)
        members = tuple((axis, member) for axis, member in fact["members"])
        key = (fact["concept"], end, start is None, part_of(Context(end, 0, start, members)))
        if fact["nil"]:
            missing = (*key, item_unit(_unit(fact))) not in known
            counts["line items", "no figure: nil" if missing else "unexplained"] += 1
            if not missing:
                yield f"nil, but a line item: {fact}"
            continue
        differences = [
            abs(value - in_unit(float(fact["value"]), unit))
            for unit in {item_unit(_unit(fact), scale) for scale in (0, PERCENT)}
            for value in known.get((*key, unit), ())
            if value is not None
        ]
        nearest = min(differences, default=math.inf)
        if nearest == 0:
            counts["line items", "equal"] += 1
        elif nearest <= _rounding(fact):
            counts["line items", "rounded: the same fact is read where it is printed more precisely"] += 1
        elif fact["id"] not in on_pages:
            counts["line items", "on no page: hidden, and no text stands for it"] += 1
        else:
            counts["line items", "unexplained"] += 1
            yield f"no line item{'' if fact['concept'] in concepts else ' of this concept'}: {fact}"


def _rounding(fact: Mapping[str, Any]) -> float:
    """By how much the value may differ from another print of the same fact, as ``decimals`` says."""
    decimals = fact["decimals"] or "INF"
    return 0.0 if decimals == "INF" else 0.501 * 10.0 ** -int(decimals)


def _refers(fact: Mapping[str, Any]) -> bool:
    return "unit" in fact and "end" in fact


def _unit(fact: Mapping[str, Any]) -> str:
    return "/".join("*".join(side) for side in fact["unit"] if side).lower()


def _period(fact: Mapping[str, Any]) -> tuple[dt.date | None, dt.date]:
    """Start and last day; Arelle ends a period at the midnight after it."""
    end = dt.date.fromisoformat(fact["end"][:10]) - dt.timedelta(days=1)
    return (None if fact["start"] is None else dt.date.fromisoformat(fact["start"])), end


def documents(paths: Iterable[Path], settings: FilingSettings, folder: Path) -> Iterator[tuple[Path, Path]]:
    """(filing, its main document as a file) of the filings with inline XBRL."""
    for path in paths:
        content = path.read_bytes()
        kind = sniff(content, settings)
        if kind == "submission" and b"<ix:nonFraction" in content:
            content = parse_submission(content).body.strip().encode()
        if kind == "pdf" or b"<ix:nonFraction" not in content:
            continue
        document = folder / f"{path.stem}.htm"
        document.write_bytes(content)
        yield path, document


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filings", nargs="+", type=Path)
    parser.add_argument("--arelle", required=True, help="python of an environment with arelle-release and word2number")
    parser.add_argument("--examples", action="store_true", help="print what is not equal")
    options = parser.parse_args()
    settings = load_settings("local").filings
    given = [file for path in options.filings for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    counts: Counts = Counter()
    differ: list[str] = []
    numbers = filings = 0
    with tempfile.TemporaryDirectory() as folder:
        pairs = list(documents(filter(Path.is_file, given), settings, Path(folder)))
        for (path, document), (_, facts) in zip(
            pairs, arelle_facts(options.arelle, [document for _, document in pairs]), strict=True
        ):
            numeric = {fact["id"]: fact for fact in facts if fact["numeric"]}
            root = parse_html(document.read_bytes())
            pages = split_pages(root, settings)
            on_pages = {hidden_id(each) or each.get("id") or "" for page in pages for each in page.tagged}
            items = parse_filing(path.read_bytes(), str(path), settings).line_items
            found = [
                *compare_tags(root, numeric, counts),
                *compare_items(items, numeric.values(), on_pages, counts),
            ]
            differ += [f"{path.name}: {text}" for text in found]
            numbers, filings = numbers + len(numeric), filings + 1
    print(f"{numbers:,} tagged numbers of {filings} filings\n\n| | outcome | n |\n|---|---|---:|")
    for part in (*ASPECTS, "line items"):
        for (name, outcome), count in sorted(counts.items()):
            if name == part:
                print(f"| {part} | {outcome} | {count:,} |")
    if options.examples:
        print("", *differ, sep="\n")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()

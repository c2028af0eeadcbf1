"""Grades the line items that finray parses against cells keyed from pictures of pages.

    python benchmarks/table_cells.py --pdfs FINANCEBENCH_PDFS --html EDGAR_HTML [--split develop] [--examples]

``table_cells/cells.jsonl`` has the keys, of two readers who saw neither the parser's output nor each other's; its
README says how. For each cell the line item that fits it best is graded: found at all, label, value, unit, period, and
all of them. A dash is right if finray keeps it as a dash; blanks and words are right if no figure is read from them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rapidfuzz import fuzz

from finray.core.bootstrap import estimate
from finray.core.filing import LineItem
from finray.core.settings import load_settings
from finray.filings.read import parse_filing
from finray.lab.evaluation.report import shown

KEYS = Path(__file__).parent / "table_cells" / "cells.jsonl"
GRADES: Final = ("found", "label", "value", "unit", "period", "all right")
_SAME_LABEL = 90.0
"""Least similarity, in percent, of a row's label to the key: wrapped lines and marks are written in many ways."""
_NEAR_LABEL = 60.0
_DAYS = 7
_SAME_UNITS: Final = {"years": "pure", "count": "pure", "ratio": "pure"}
_NEAR_COLUMN = 75.0
_MARK = re.compile(r"\s*\((?:[a-z]|\d{1,2})\)")
_MARK_ON_FIGURE = re.compile(r"(?<=[\d%])\s*\((?:[a-z]|\d{1,2})\)")


@dataclass(frozen=True, slots=True)
class Graded:
    """How the best line item fits a key; ``read`` is that item, None if there is none."""

    key: dict[str, Any]
    right: dict[str, bool]
    read: LineItem | None


def graded(key: dict[str, Any], items: Sequence[LineItem]) -> Graded:
    """The grades of ``key`` against the ``items`` of its page (of its filing in HTML)."""
    if key["stands"] not in (None, "dash"):
        wrong = [item for item in items if _label(key, item) >= _SAME_LABEL and _column(key, item) >= _NEAR_COLUMN]
        figure = next((item for item in wrong if any(map(str.isdigit, item.text))), None)
        return Graded(key, dict.fromkeys(GRADES, figure is None), figure)
    near = [item for item in items if _label(key, item) >= _NEAR_LABEL and _text(key, item)]
    if not near:
        return Graded(key, dict.fromkeys(GRADES, False), None)
    best = max(near, key=lambda item: (sum(_rights(key, item).values()), _label(key, item), _column(key, item)))
    right = _rights(key, best)
    return Graded(key, {"found": True, **right, "all right": all(right.values())}, best)


def _rights(key: dict[str, Any], item: LineItem) -> dict[str, bool]:
    value = 0.0 if key["value"] is None else key["value"]
    unit = _SAME_UNITS.get(key["unit"], key["unit"])
    return {
        "label": _label(key, item) >= _SAME_LABEL,
        "value": abs(item.value - value) <= 1e-6 * max(abs(value), 1e-9),
        "unit": item.unit == unit or (key["stands"] == "dash" and item.unit != "percent") == (unit != "percent"),
        "period": _period(key, item),
    }


def _label(key: dict[str, Any], item: LineItem) -> float:
    """How like the labels are, in percent; a row without a label of its own goes by its heading."""
    wanted = _plain(key["label"]) or _plain(key["section"] or key["table"])
    return max(fuzz.ratio(wanted, _plain(item.label)), fuzz.ratio(wanted, _plain(f"{item.section or ''} {item.label}")))


def _text(key: dict[str, Any], item: LineItem) -> bool:
    """Whether the item prints the digits of the key, or no digit where it has a dash."""
    return re.sub(r"\D", "", key["text"]) == re.sub(r"\D", "", _MARK_ON_FIGURE.sub("", item.text))


def _column(key: dict[str, Any], item: LineItem) -> float:
    return fuzz.token_set_ratio(_plain(key["column"]), _plain(f"{item.column_label or ''} {item.period_end or ''}"))


def _period(key: dict[str, Any], item: LineItem) -> bool:
    """Whether the item has the period of the key; True if the page dates it only by a year, or readers disagree."""
    if not key["dated"]:
        return True
    if item.period_end is None:
        return False
    year, month, day = map(int, key["period_end"].split("-"))
    near = abs(item.period_end.toordinal() - type(item.period_end)(year, month, day).toordinal()) <= _DAYS
    return near and (key["months"] is None or item.months in (key["months"], None))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9%]+", _MARK.sub("", text.lower().replace("&", " and "))))


def sources(folders: Sequence[str]) -> dict[str, Path]:
    """The files of ``folders`` by stem."""
    return {path.stem: path for folder in folders for path in sorted(Path(folder).iterdir()) if path.is_file()}


def grades(keys: Sequence[dict[str, Any]], files: dict[str, Path]) -> Iterator[Graded]:
    """Parses each filing once."""
    by_filing: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key in keys:
        by_filing[key["doc_name"]].append(key)
    settings = load_settings("local").filings
    for doc_name, own in by_filing.items():
        path = files[doc_name]
        items = parse_filing(path.read_bytes(), str(path), settings).line_items
        for key in own:
            yield graded(key, [item for item in items if key["page"] in (None, item.page)])


def shares(results: Sequence[Graded]) -> Iterator[str]:
    """The lines of a table: the share of right cells by kind and grade."""
    yield "| kind | n | " + " | ".join(GRADES) + " |"
    yield "|---|---:" * (2 + len(GRADES) - 1) + "|---:|"
    for kind in (*sorted({each.key["kind"] for each in results}), "all"):
        own = [each for each in results if kind in ("all", each.key["kind"])]
        found = (shown(estimate([float(each.right[grade]) for each in own])) for grade in GRADES)
        yield f"| {kind} | {len(own)} | " + " | ".join(share.partition(" n ")[0] for share in found) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pdfs", required=True, help="folder of FinanceBench's PDF files")
    parser.add_argument("--html", required=True, help="folder of EDGAR's HTML files")
    parser.add_argument("--split", choices=("develop", "validate"))
    parser.add_argument("--examples", action="store_true", help="print the cells that are not all right")
    options = parser.parse_args()
    keys = [json.loads(line) for line in KEYS.read_text(encoding="utf-8").splitlines()]
    keys = [key for key in keys if options.split in (None, key["split"])]
    results = list(grades(keys, sources([options.pdfs, options.html])))
    print("\n".join(shares(results)))
    for each in results if options.examples else ():
        if not each.right["all right"]:
            wrong = [grade for grade in GRADES if not each.right[grade]]
            key = {
                k: each.key[k] for k in ("doc_name", "page", "label", "column", "text", "value", "unit", "period_end")
            }
            print(wrong, key, each.read)


if __name__ == "__main__":
    main()

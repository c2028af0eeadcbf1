"""Insert a generated table between its marks in docs/results.md.

finray compare ... --markdown | python tools/results_table.py development
python tools/results_table.py page-model        # from the record in the shipped model
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results.md"
MODEL = ROOT / "finray" / "retrieval" / "page_model.json"


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    name = sys.argv[1]
    table = page_model_table(MODEL.read_text("utf-8")) if name == "page-model" else sys.stdin.read()
    RESULTS.write_text(with_table(RESULTS.read_text("utf-8"), name, table), encoding="utf-8")


def with_table(text: str, name: str, table: str) -> str:
    """Replace the text between the marks ``name``. Raises SystemExit if they are missing."""
    marks = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)", re.DOTALL)
    if len(marks.findall(text)) != 1:
        raise SystemExit(f"{RESULTS} has no pair of marks <!-- {name} --> and <!-- /{name} -->")
    return marks.sub(lambda match: f"{match.group(1)}\n{table.strip()}\n\n{match.group(2)}", text)


def page_model_table(model: str) -> str:
    """Held-out page recall of the page model, from its training record."""
    held_out = json.loads(model)["trained"]["held_out"]
    rows = [
        f"| {source}, {setting} | " + " | ".join(recalls.values()) + " |"
        for setting, sources in held_out.items()
        for source, recalls in sources.items()
    ]
    names = list(next(iter(next(iter(held_out.values())).values())))
    head = [
        "| questions | " + " | ".join(name.replace("_", " ") for name in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    return "\n".join([*head, *rows])


if __name__ == "__main__":
    main()

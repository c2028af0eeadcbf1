"""What metrics are usually called: canonical line items and formulas."""

from __future__ import annotations

from functools import cache

from finray.filings.tables.canonical import canonical_items
from finray.question.measures.formulas import formulas


@cache
def usual_names() -> dict[str, str]:
    """The usual name of each metric by its key."""
    items = {key: item.names[0] for key, item in canonical_items().items()}
    return items | {key: formula.names[0] for key, formula in formulas().items()}

"""Finds the scale of amounts that sentences state like the tables beside them: "$34" for 34 million dollars."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from finray.core.currencies import CURRENCIES
from finray.core.filing import LineItem
from finray.core.vocabulary import SCALE
from finray.filings.prose.figures import ProseFigure, prose_figures
from finray.filings.tables.scales import read_scale

_TOP: Final = 400
"""Characters at the top of a page in which a running title announces the scale of its amounts."""
_SCALED = re.compile(rf"{SCALE}\b", re.I)
_IN_FULL: Final = 100_000
"""An amount of this size is in full dollars, not thousands or millions."""


def is_scaled(figure: ProseFigure, text: str) -> bool:
    """Whether ``text`` states the amount with a word of scale, or in full dollars."""
    return _SCALED.search(text, figure.start, figure.end) is not None or figure.value >= _IN_FULL


def unspoken_scale(text: str, sentences: Iterable[str], tables: Iterable[LineItem] = ()) -> int:
    """The multiplier of amounts without a word of scale in the ``sentences`` of a page.

    It is 1 if any sentence has such a word or an amount in full dollars; else that of the page's ``tables``; else the
    one that the top of its ``text`` announces ("in millions").
    """
    scaled = (
        is_scaled(figure, sentence) or sentence[figure.start : figure.end].endswith(",000")
        for sentence in sentences
        for figure in prose_figures(sentence)
        if figure.kind == "money"
    )
    if any(scaled):
        return 1
    scales = Counter(item.scale for item in tables if item.unit in CURRENCIES)
    if scales:
        return scales.most_common(1)[0][0]
    announced = read_scale(text[:_TOP])
    return announced.money if announced is not None else 1

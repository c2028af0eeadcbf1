"""What is known of a figure that OCR read: whether it stands, or why it is doubted."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final, Literal

OcrMark = Literal["stands", "differs", "breaks_sum", "odd_print", "unlike_repeat"]
"""``stands`` for a figure that nothing speaks against, else the reason to doubt it (:data:`DOUBTS`)."""
DOUBTS: Final[Mapping[OcrMark, str]] = {
    "differs": "a second reading of the page differs",
    "breaks_sum": "its column does not add up as others do",
    "odd_print": "it is not printed like the other figures around it",
    "unlike_repeat": "the filing repeats it with another digit",
}
"""Why a figure is doubted, for people."""
OCR_NOTE: Final = "(read by OCR)"
_NOT_IN_FIGURES = re.compile(r"[^\d.,]")


def is_doubted(mark: OcrMark | None) -> bool:
    """Whether a figure with this mark, None for a text layer, must not be the value of an answer."""
    return mark in DOUBTS


def described(mark: OcrMark | None) -> str:
    """``mark`` for people; "" for a text layer."""
    if mark is None:
        return ""
    return f"doubted: {DOUBTS[mark]}" if mark in DOUBTS else "read by OCR"


def figure_of(text: str) -> str:
    """The digits of a printed figure with the separators between them: "1,234.5" of "$(1,234.5)."."""
    return _NOT_IN_FIGURES.sub("", text).strip(".,")


def mark_of(printed: str, doubts: Collection[str] | None) -> OcrMark | None:
    """The mark of a figure in a sentence on a page with these ``doubts`` (``Page.ocr_doubts``)."""
    if doubts is None:
        return None
    doubted = set(map(figure_of, doubts))
    return "differs" if any(figure_of(word) in doubted for word in printed.split() if figure_of(word)) else "stands"

"""Text as a reader sees it: text of filings, users and models without invisible characters."""

from __future__ import annotations

import itertools
import re
import unicodedata

_KEPT_CONTROLS = "\n\t"
_BLANKS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Letters and marks that print nothing: grapheme joiners, Hangul and Khmer fillers, blank Braille, variation
selectors."""
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}
"""Control and format characters (zero-width, bidirectional, tags), surrogates, private use, unassigned."""


def readable(text: str) -> str:
    """``text`` in compatibility form (NFKC: full-width and mathematical letters become plain), without format and
    control characters other than line ends and tabs.

    Superscripts, fractions and circled numbers are kept: "1,577²" is not 15,772, and "4½" not 41/2.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii():
        return text if text.isprintable() else "".join(map(_seen, text))
    visible = "".join(map(_seen, _BLANKS.sub("", text.replace("\u2028", "\n").replace("\u2029", "\n"))))
    return "".join(
        "".join(run) if kept else unicodedata.normalize("NFKC", "".join(run))
        for kept, run in itertools.groupby(visible, lambda character: unicodedata.category(character) == "No")
    )


def _seen(character: str) -> str:
    if character in _KEPT_CONTROLS or unicodedata.category(character) not in _UNSEEN:
        return character
    return "\n" if character in "\r\x0b\x0c\x85" else ""

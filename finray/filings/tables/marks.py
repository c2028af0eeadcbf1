"""Footnote marks: raised digits and letters beside figures and labels, "(a)", "*".

A raised digit that was printed as "120,450¹" would otherwise read as a digit of the figure. In the text of pages it
becomes a superscript character, behind a space; cells and labels do not have it.
"""

import re

_PLAIN = "0123456789abcdefghijklmnoprstuvwxyz"
_HIGH = "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
_RAISE = str.maketrans(_PLAIN, _HIGH)
_ONE = r"(?:\((?:\d{1,2}|[a-z])\)|\d{1,2}|[a-z])"
_MARKS = re.compile(rf"{_ONE}(?:(?:,\s?|\s|(?<=\))(?=\()){_ONE}){{0,3}},?")
_RAISED = re.compile(rf"(?<![{_HIGH}])\s?[{_HIGH}⁽]++[{_HIGH}⁽⁾]*+(?:[,\s]\s?[{_HIGH}⁽][{_HIGH}⁽⁾]*+)*+")
_POWER = re.compile(r"(?<![^\W\d_])(?:[cdkm]?m|ft|in|mi|yd|R|CO|NO|CH)$")
"""Ends with a unit or symbol of which a raised "2" or "3" is a part."""
SIGNS = "*†‡§"
"""Marks that are not digits or letters."""
_MOST_MARKS = 16
"""Characters; a longer raised text is not a mark."""


def is_mark(text: str) -> bool:
    """Whether a raised ``text`` is a mark, or several: "1", "a", "(1)(2)", "1, 2". "th" and "TM" are not."""
    text = text.strip()
    if len(text) > 2 and text[0] != "(" and "," not in text and " " not in text:
        return False  # most texts, such as figures
    return 0 < len(text) <= _MOST_MARKS and _MARKS.fullmatch(text) is not None


def is_power(before: str, mark: str) -> bool:
    """Whether a raised ``mark`` is part of the unit or symbol that ends the text ``before`` it: "km²", "R²"."""
    return mark.strip() in {"2", "3"} and _POWER.search(before[-4:]) is not None


def raised(mark: str) -> str:
    """``mark`` in superscript characters: "1" is "¹". A mark in parentheses stays as it is."""
    return mark if "(" in mark else mark.translate(_RAISE)


def without_raised(text: str) -> str:
    """``text`` without marks in superscript characters."""
    return text if text.isascii() else _RAISED.sub(_unless_power, text).strip()


def _unless_power(match: re.Match[str]) -> str:
    text = match[0]
    before = match.string[max(0, match.start() - 4) : match.start()]
    return text if text in {"²", "³"} and _POWER.search(before) is not None else ""

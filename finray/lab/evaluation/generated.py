"""Scores of generated answers as arXiv 2602.17981 defines them (section 3.4)."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from finray.lab.evaluation.overlap import Reference, rouge_l, tokens

TOLERANCE: Final = 0.03
_DROPPED: Final = re.compile(r"[,$€£¥]")
_NUMBER: Final = re.compile(r"(?<![\w.])-?(?:\d+(?:\.\d+)?|\.\d+)")


def number_set(text: str) -> frozenset[float]:
    """The numbers of ``text`` without commas and currency symbols; a hyphen after a word is not a minus sign."""
    return frozenset(float(found) for found in _NUMBER.findall(_DROPPED.sub("", text)))


def number_sets_match(answer: str, reference: str) -> bool:
    """Whether any number of ``answer`` is close to any of ``reference`` (numpy.isclose, atol = rtol = 0.03)."""
    found, wanted = sorted(number_set(answer)), sorted(number_set(reference))
    close = np.isclose(np.array(found)[:, None], np.array(wanted)[None, :], rtol=TOLERANCE, atol=TOLERANCE)
    return bool(close.any())


def answer_rouge_l(answer: str, reference: str) -> float:
    """ROUGE-L F1 in [0, 1] of the answer's words."""
    return rouge_l(tokens(answer), Reference(tokens(reference)))

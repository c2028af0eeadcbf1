"""Whether parentheses around a figure mean that it is paid or deducted, rather than negative.

A logistic model over the words of a row, its statement and the words that ask for it (``printed_sign.json``). ``finray
train printed-sign`` fits it to filings with inline XBRL, whose tags give the sign.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from finray.core.data_files import shipped
from finray.core.errors import ModelUnavailableError
from finray.core.filing import LineItem, Statement
from finray.question.synonyms import words_of

CONSTANT: Final = "constant"
PAID_OR_DEDUCTED = re.compile(
    r"^\W*less\b|^\W*(?:net\s+)?(?:cash\s+|common\s+stock\s+|tax\w*\s+)?"
    r"(?:payments?|purchases?|repurchases?|repurchased|repayments?|paid|acquisitions?|acquired|dividends?|additions|"
    r"(?:capital )?expenditures|treasury|accumulated (?:depreciation|amortization)|\w*\s?allowances?|imputed|settle\w*|"
    r"decreases)\b|\b(?:expenditures|withheld|retired|paid|repurchased)\b",
    re.I,
)
"""Rows in which parentheses mean paid or deducted, not negative."""
_OUTFLOW = re.compile(
    r"\b(?:loss(?:es)?|impairments?|charges?|expenses?|costs?|amortization|depreciation|write-?(?:off|down)s?|"
    r"provisions?|forfeit\w*|cancell?ed|expired|exercised|released|allowances?|deductions?)\b",
    re.I,
)
_EITHER = re.compile(r"\b(?:income|gains?|earnings|profit|benefits?|recover(?:y|ies)|credits?|net)\b", re.I)
"""Rows that may have either sign."""
_CUES = {"outflow": _OUTFLOW, "either": _EITHER, "paid": PAID_OR_DEDUCTED, "bracket": re.compile(r"\(")}


class SignedRow(NamedTuple):
    """The row of a figure in parentheses; ``instant`` means a figure at a date. ``asked`` is what the question asks
    for, such as "allowance for credit losses" for a row "Balance at June 30"; "" if it asks for more than this row."""

    label: str
    statement: Statement | None
    instant: bool
    percent: bool
    asked: str = ""

    @classmethod
    def of(cls, item: LineItem, asked: str = "") -> SignedRow:
        return cls(item.label, item.statement, item.months == 0, item.unit == "percent", asked)


def sign_features(row: SignedRow) -> frozenset[str]:
    """The names of a row's features: its words and those asked for, its statement, and the cues of a rule."""
    label = row.label
    cues = {cue for cue, pattern in _CUES.items() if pattern.search(label)}
    if "paid" in cues or ("outflow" in cues and "either" not in cues):
        cues.add("rule")
    cues |= {name for name, holds in (("instant", row.instant), ("percent", row.percent)) if holds}
    cues |= {f"asked {cue}" for cue, pattern in _CUES.items() if pattern.search(row.asked)}
    words = {f"word {word}" for word in words_of(label) if not word.isdecimal()}
    words |= {f"asked word {word}" for word in words_of(row.asked) if not word.isdecimal()}
    return frozenset({CONSTANT, *cues, f"of {row.statement or 'notes'}", *words})


@dataclass(frozen=True, slots=True)
class SignModel:
    """``weights`` by feature. A feature without a weight, such as an unknown word, is ignored."""

    weights: Mapping[str, float]

    def probability(self, row: SignedRow) -> float:
        """The probability that a figure in parentheses is positive."""
        known = sorted(name for name in sign_features(row) if name in self.weights)
        return 1 / (1 + math.exp(-math.fsum(self.weights[name] for name in known)))


def sign_model_json(model: SignModel, trained: Mapping[str, Any]) -> str:
    """The content of ``printed_sign.json``; ``trained`` describes the training data."""
    weights = {name: round(weight, 3) for name, weight in sorted(model.weights.items())}
    return json.dumps({"trained": trained, "weights": weights}, indent=1) + "\n"


def read_sign_model(text: str) -> SignModel:
    """The model of :func:`sign_model_json`. Raises ModelUnavailableError if ``text`` is not one."""
    try:
        weights = {str(name): float(weight) for name, weight in json.loads(text)["weights"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailableError(f"printed_sign.json is no model of signs: {error}; fit it again") from error
    return SignModel(weights)


@cache
def shipped_sign_model() -> SignModel:
    """The model that comes with finray."""
    return read_sign_model(shipped("finray.answering.cells", "printed_sign.json"))


@lru_cache(maxsize=16384)
def is_deducted(row: SignedRow) -> bool:
    """Whether a figure in parentheses is more likely positive than negative."""
    return shipped_sign_model().probability(row) > 0.5

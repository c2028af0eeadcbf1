"""Cues in a sentence of the kind of answer that a question asks for: a cause, a person, a date, a list, a denial."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from finray.core import vocabulary
from finray.core.query import Query
from finray.core.vocabulary import MONTH
from finray.filings.pages.sentences import Sentence

_ASKED: Final[Mapping[str, re.Pattern[str]]] = {
    "person": re.compile(r"\b(?:who|whom|whose|officer|director|chair\w*|CEO|CFO|president|auditor|signed)\b", re.I),
    "date": re.compile(r"\b(?:when|what date|which (?:day|month|year)|since when|by what date|how long)\b", re.I),
    "list": re.compile(r"\b(?:which|name|list|identify|what (?:were|are)|two|three|four|five|several)\b", re.I),
    "denied": re.compile(r"^\W*(?:did|does|do|is|are|was|were|has|have|had|can|could|will|would|may)\b|\bany\b", re.I),
}
"""Words of questions that ask for each kind; those that ask for a cause are an intent of the query."""
KINDS: Final = ("cause", *_ASKED)
_CUES: Final[Mapping[str, re.Pattern[str]]] = {
    "person": re.compile(
        r"\b(?:Mr|Ms|Mrs|Dr)\.|\b(?:Officer|President|Director|Chair\w*|Controller|Secretary|Counsel|Treasurer|LLP|"
        r"appointed|elected|served|joined|resigned|succeed\w*)\b|/s/"
    ),
    "list": re.compile(r"[:;•]|, and |\(i+\)|\(1\)|\bas follows\b|\binclud\w+\b"),
}
_LOWER_CUES: Final[Mapping[str, re.Pattern[str]]] = {
    "cause": re.compile(
        r"\b(?:due (?:primarily |mainly |largely )?to|because|driven|attribut\w+|primarily|mainly|largely|mostly|"
        r"as a result|result(?:ed|ing|s)? (?:from|in)|reflect\w*|relat(?:ed|es|ing) to|caused|owing to|offset|"
        r"in connection with|in order to|since|led to|consequence|therefore|predominantly|principally)\b"
    ),
    "date": re.compile(rf"\b{MONTH}\.? \d|\b{MONTH} (?:19|20)\d\d|\b(?:19|20)\d\d\b"),
    "denied": re.compile(r"\b(?:no|not|none|never|neither|nor|without|cannot)\b|n['’]t\b"),
}
"""Cues for sentences in lower case: to ignore case costs two to four times as much."""
_REFERS = re.compile(r"\b(?:see|refer to|discussed (?:in|above|below)|described (?:in|above|below))\b")
_SIGNS = re.compile(r"\b(?:sign(?:ed|s|er|ers|ature)?|audit(?:ed|or|ors)?)\b", re.I)
_HEDGED = re.compile(r"\b(?:may|could|might|would|can|intend|expect|believe|if)\b")
_DANGLING = re.compile(
    r"(?:This|These|That|Those|It|They|He|She|Such|Its|Their|His|Her|Accordingly|In addition|Additionally|Also|However|"
    r"As a result|Further|Furthermore|Moreover|Therefore)\b"
)
FIGURE: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
YEAR: Final = re.compile(vocabulary.YEAR)
_SHORT = 10
"""A sentence with fewer words is short."""


def kinds_asked(query: Query) -> frozenset[str]:
    """The KINDS of answers that the question asks for."""
    return frozenset(kind for kind, asked in _ASKED.items() if asked.search(query.text)) | (query.intents & {"cause"})


def is_dangling(text: str) -> bool:
    """Whether the sentence begins with a word that refers to the one before."""
    return _DANGLING.match(text) is not None


def cues(query: Query, sentences: Sequence[Sentence]) -> dict[str, npt.NDArray[np.float64]]:
    """Features of ``sentences`` by name, each float64 [len(sentences)]; those that are left out are 0."""
    asked = kinds_asked(query)
    printed = [sentence.text for sentence in sentences]
    lower = [text.lower() for text in printed]
    found: dict[str, Sequence[float]] = {}
    for patterns, texts in ((_CUES, printed), (_LOWER_CUES, lower)):
        for kind, cue in patterns.items():
            found[kind if kind in asked else f"{kind}_unasked"] = _has(cue, texts)
    if "amount" in query.intents and "cause" not in query.intents:
        found["amount"] = [FIGURE.search(YEAR.sub("", text)) is not None for text in printed]
        found["no_amount"] = [not each for each in found["amount"]]
    found["hedged"] = _has(_HEDGED, lower)
    found["refers"] = _has(_REFERS, lower)
    found["introduces"] = [text.endswith(":") for text in printed]
    found["dangling"] = [is_dangling(text) for text in printed]
    found["signed_asked" if _SIGNS.search(query.text) else "signed"] = [sentence.signed for sentence in sentences]
    found["unended"] = [text[-1].isalnum() or text[-1] == "," for text in printed]
    words = [text.count(" ") + 1 for text in printed]
    found["length"] = np.log(words).tolist()
    found["short"] = [number < _SHORT for number in words]
    return {name: np.asarray(values, dtype=np.float64) for name, values in found.items()}


def _has(pattern: re.Pattern[str], texts: Sequence[str]) -> list[bool]:
    return [pattern.search(text) is not None for text in texts]

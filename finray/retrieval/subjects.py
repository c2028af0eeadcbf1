"""Standard subjects of filings: finds those of a question, and the headings and Items that treat them.

FinGEAR's lexicon mapping (arXiv 2509.12042, FLAM) for headings: finance terms of a question lead to the places where
reports treat their subject. The data is in ``subjects.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from finray.core.data_files import shipped_data


@dataclass(frozen=True, slots=True)
class Subject:
    """``asked`` matches the subject in questions, ``printed`` in headings; ``items`` and ``places`` treat it."""

    key: str
    asked: re.Pattern[str]
    printed: re.Pattern[str]
    items: frozenset[str]
    places: frozenset[str]


@cache
def subjects() -> tuple[Subject, ...]:
    """All subjects, in the order of the data file."""
    return tuple(
        Subject(
            key,
            _pattern(entry["asked"]),
            _pattern(entry["printed"]),
            frozenset(entry["items"]),
            frozenset(entry.get("places", ())),
        )
        for key, entry in shipped_data("finray.retrieval", "subjects.toml").items()
    )


def subjects_asked(question: str) -> tuple[Subject, ...]:
    """The subjects that ``question`` is about, in the order of the data file."""
    return tuple(subject for subject in subjects() if subject.asked.search(question))


def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    bodies = (r"[\s\-–]+".join(re.escape(word) for word in phrase.split()) for phrase in phrases)
    return re.compile(rf"(?<![\w&])(?:{'|'.join(sorted(bodies, key=len, reverse=True))})", re.I)

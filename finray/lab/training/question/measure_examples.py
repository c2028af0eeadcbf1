"""Questions with marked quantities, made of people's phrases for figures and the frames of ``measure_frames.toml``."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from finray.core.data_files import shipped_data
from finray.lab.training.question.marked_questions import MarkedQuestion
from finray.lab.training.question.metric_examples import Wording
from finray.lab.training.question.surroundings import surroundings

SOURCE: Final = "framed"
_OF_TWO = "_of_two"
_BEFORE, _AFTER, _LOWER = 0.4, 0.4, 0.15
"""Shares of questions with a sentence before and after them, and in lower case."""
_OWN_PART, _PART_WORDS = 0.6, 3
"""Share of parts that are short phrases themselves."""
_LONGEST, _AS_PRINTED = 70, 0.3
_SLOT = re.compile(r"\{(\w+)\}")


def phrases_of(wordings: Iterable[Wording], lines: Iterable[Mapping[str, Any]], seed: int = 0) -> list[str]:
    """People's noun phrases, and half as many labels of rows that ``lines`` of benchmarks/table_questions ask for."""
    chance = random.Random(seed)
    found = [each.text for each in wordings if each.kind != "question" and len(each.text) <= _LONGEST]
    labels = {str(cell["label"]).strip(" :") for line in lines for cell in line.get("cells", ())}
    rows = sorted(each for each in labels if 4 < len(each) <= _LONGEST and not any(map(str.isdigit, each)))
    # Tables begin their rows with a capital letter, questions mostly do not.
    rows = [each if chance.random() < _AS_PRINTED else each[0].lower() + each[1:] for each in rows]
    return [*found, *chance.choices(rows, k=len(found) // 2)] if rows else found


def framed_questions(phrases: Sequence[str], count: int, seed: int = 0, writer: str = "") -> Iterator[MarkedQuestion]:
    """``count`` questions about the ``phrases`` of a ``writer``, the same for each seed. Raises ValueError with fewer
    than two phrases."""
    if len(phrases) < 2:
        raise ValueError("a question of two quantities takes two phrases")
    chance = random.Random(seed)
    frames = [(kind, frame) for kind, own in _frames().items() for frame in own]
    while count:
        kind, frame = chance.choice(frames)
        found = _filled(kind, frame, phrases, chance)
        if found is not None:
            count -= 1
            yield replace(found, writer=writer)


def _filled(kind: str, frame: str, phrases: Sequence[str], chance: random.Random) -> MarkedQuestion | None:
    """A question, or None if it has one of the phrases twice, so that the place of its words is ambiguous."""
    around = surroundings()
    first, second = chance.sample(phrases, 2)
    part = chance.choice(around["parts"])
    if chance.random() < _OWN_PART:
        part = next((each for each in chance.choices(phrases, k=20) if len(each.split()) <= _PART_WORDS), part)
    words = {"first": first, "second": second, "part": part}
    words["company"] = chance.choice(around["companies"])
    words["earlier"], words["period"] = chance.sample(around["periods"], 2)
    before = f"{chance.choice(around['before'])} " if chance.random() < _BEFORE else ""
    after = f" {chance.choice(around['after'])}" if chance.random() < _AFTER else ""
    lower = chance.random() < _LOWER
    text, companies = before, []
    at = 0
    for slot in _SLOT.finditer(frame):
        text += frame[at : slot.start()]
        if slot[1] == "company":
            companies.append((len(text), len(text) + len(words["company"])))
        text += words[slot[1]]
        at = slot.end()
    text += frame[at:] + after
    if lower:
        text, words = text.lower(), {slot: each.lower() for slot, each in words.items()}
    named = [slot for slot in ("first", "part", "second") if f"{{{slot}}}" in frame]
    if any(text.count(words[slot]) != 1 for slot in named):
        return None
    pieces = tuple(words[slot] for slot in named if slot != "second")
    measures = (pieces, (words["second"],)) if "second" in named else (pieces,)
    return MarkedQuestion(text, measures, kind.removesuffix(_OF_TWO), SOURCE, tuple(companies))


@cache
def _frames() -> Mapping[str, Sequence[str]]:
    frames: Mapping[str, Sequence[str]] = shipped_data("finray.lab.training.question", "measure_frames.toml")
    return frames

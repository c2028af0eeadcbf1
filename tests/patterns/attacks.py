"""Texts on which a backtracking engine takes long, made from a pattern's own syntax tree, and the time that it takes.

What makes a pattern slow is a repetition that can share its text with itself, with a neighbor or with the next start of
a search. So each repetition is reached once, pumped with whatever it or its neighbors match, and made to fail behind
that; and what stands before it is repeated, so that a search starts anew again and again.
"""

from __future__ import annotations

import importlib
import itertools
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import pytest

sre: Any = importlib.import_module("re._constants")
_parser: Any = importlib.import_module("re._parser")

AT_MOST_S = 0.2
"""CPU seconds for one text on an idle core."""
BUSY = 3.0
"""Factor for the same work on a shared core before a test fails."""
exhaustive = pytest.mark.skipif(
    "FINRAY_EXHAUSTIVE" not in os.environ, reason="takes up to an hour; FINRAY_EXHAUSTIVE=1 runs it"
)
LONG = 16
"""Shorter repetitions are not attacked."""
MAX_PUMPS = 12
"""Most pumps of one repetition."""
MAX_ATTACKS = 500
"""Most attacks on one pattern; of more (patterns with hundreds of names), every second, third … is tried."""
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_EMPTY = (sre.AT, sre.ASSERT, sre.ASSERT_NOT, sre.GROUPREF)
_CATEGORIES: dict[Any, tuple[str, Callable[[str], bool]]] = {
    sre.CATEGORY_SPACE: (" \n", str.isspace),
    sre.CATEGORY_NOT_SPACE: ("a,", lambda c: not c.isspace()),
    sre.CATEGORY_DIGIT: ("1", str.isdigit),
    sre.CATEGORY_NOT_DIGIT: ("a ,", lambda c: not c.isdigit()),
    sre.CATEGORY_WORD: ("a1", lambda c: c.isalnum() or c == "_"),
    sre.CATEGORY_NOT_WORD: (" ,", lambda c: not (c.isalnum() or c == "_")),
}
"""Sample characters of each category, and a test for membership."""
_USUAL = "a A1,.-($\n\x00%&'"
_ENDS = ("\x00", "Q!", "\n\x00", '"', " ~ ")
"""Characters at which a repetition may fail."""
_PLAIN = (" ", "\n", "a", "1", "A", ",", "(", "-", ".", "$", "|", "a ", "1 ", ", ", " \n", "A.", "1,", "Aa ")

Nodes = Sequence[tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Attack:
    """``before``, then ``pump`` repeatedly, then ``after``."""

    before: str
    pump: str
    after: str

    def text(self, characters: int) -> str:
        rest = characters - len(self.before) - len(self.after)
        return self.before + self.pump * max(1, rest // len(self.pump)) + self.after


def attacks(pattern: re.Pattern[Any], *, searches: bool = True) -> list[Attack]:
    """Attacks on ``pattern``, each once. ``searches``: whether every position of a text is tried, not only its
    start."""
    found = dict.fromkeys(_attacks(tree_of(pattern), searches))
    return list(found)[:: 1 + len(found) // MAX_ATTACKS]


def tree_of(pattern: re.Pattern[Any]) -> Nodes:
    if isinstance(pattern.pattern, bytes):
        return list(_parser.parse(pattern.pattern.decode("latin-1"), pattern.flags))
    return list(_parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


def _attacks(tree: Nodes, searches: bool) -> Iterator[Attack]:
    for before, body, around in _repetitions(tree, ""):
        own = [*_samples(body), *_first_characters(body)]
        units = list(dict.fromkeys(filter(None, [*own, *around])))
        pumps = [*units, *map("".join, itertools.permutations(units[:3], 2))]
        end = next((end for end in _ENDS if not _starts(body, end[0])), "\x00")
        for pump in pumps[:MAX_PUMPS]:
            yield Attack(before, pump, end)
            if end != "\x00":
                yield Attack(before, pump, "\x00")
        if before and searches:
            yield from (Attack("", before, after) for after in ("", end))
    for pump in filter(None, (*_PLAIN, *_samples(tree))):
        yield Attack("", pump, "\x00")


def _repetitions(nodes: Nodes, before: str) -> Iterator[tuple[str, Nodes, list[str]]]:
    """For each long repetition, its prefix, its body, and the first characters of its neighbors."""
    for at, (kind, value) in enumerate(nodes):
        if kind in _REPEATS:
            low, high, body = value
            if high >= LONG:
                yield before, body, [*_neighbors(reversed(nodes[:at])), *_neighbors(nodes[at + 1 :])]
            yield from _repetitions(body, before)
            before += next(iter(_samples(body)), "") * low
        else:
            for inner in inside(kind, value):
                yield from _repetitions(inner, before)
            before += next(iter(_samples([(kind, value)])), "")


def _neighbors(nodes: Iterable[tuple[Any, Any]]) -> list[str]:
    """First characters of what follows, including after optional parts."""
    found: list[str] = []
    for kind, value in nodes:
        found += _first_characters([(kind, value)])
        if kind not in (*_REPEATS, *_EMPTY) or (kind in _REPEATS and value[0] > 0):
            break
    return found


def inside(kind: Any, value: Any) -> list[Nodes]:
    """The sequences in a node that is not a repetition."""
    if kind is sre.SUBPATTERN:
        return [value[3]]
    if kind is sre.ATOMIC_GROUP:
        return [value]
    if kind in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    if kind is sre.BRANCH:
        return list(value[1])
    return [each for each in value[1:] if each] if kind is sre.GROUPREF_EXISTS else []


def _samples(nodes: Nodes) -> list[str]:
    """Texts that match ``nodes``: first with all optional parts, then with each alternative."""
    found = [""]
    for kind, value in nodes:
        if kind in _EMPTY:
            continue
        if kind in _REPEATS:
            options = [each * max(value[0], 1) for each in _samples(value[2])] + ([] if value[0] else [""])
        elif within := inside(kind, value):
            # Of alternatives that are plain words one is like another.
            words = all(node is sre.LITERAL for each in within for node, _ in each)
            options = [text for each in within[: 1 if words else None] for text in _samples(each)]
        else:
            options = _characters(kind, value)
        if options:
            found = [found[0] + option for option in options] + [text + options[0] for text in found[1:]]
            found = list(dict.fromkeys(found))[:MAX_PUMPS]
    return found


def _first_characters(nodes: Nodes) -> list[str]:
    found: list[str] = []
    for kind, value in nodes:
        if kind in _EMPTY:
            continue
        if kind in _REPEATS:
            found += _first_characters(value[2])
            if value[0] == 0:
                continue
        elif within := inside(kind, value):
            found += [character for each in within for character in _first_characters(each)]
        else:
            found += _characters(kind, value)
        break
    return list(dict.fromkeys(found))


def _characters(kind: Any, value: Any) -> list[str]:
    """Some characters that a node matches."""
    if kind is sre.LITERAL:
        return [chr(value)]
    if kind is sre.IN and value[0][0] is not sre.NEGATE:
        found: list[str] = []
        for each, what in value:
            if each is sre.CATEGORY:
                found += _CATEGORIES[what][0]
            else:
                found.append(chr(what if each is sre.LITERAL else what[0]))
        return list(dict.fromkeys(found))[:8]
    return [character for character in _USUAL if _matches(kind, value, character)][:4]


def _matches(kind: Any, value: Any, character: str) -> bool:
    """Whether a node matches ``character``."""
    if kind is sre.ANY:
        return character != "\n"
    if kind in (sre.LITERAL, sre.NOT_LITERAL):
        return (value == ord(character)) is (kind is sre.LITERAL)
    if kind is sre.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    if kind is sre.CATEGORY:
        return _CATEGORIES[value][1](character)
    if kind is sre.IN and value[0][0] is sre.NEGATE:
        return not any(_matches(each[0], each[1], character) for each in value[1:])
    return kind is sre.IN and any(_matches(each[0], each[1], character) for each in value)


def _starts(nodes: Nodes, character: str) -> bool:
    """Whether ``nodes``, the body of a repetition, may start with ``character``."""
    for kind, value in nodes:
        if kind in _EMPTY:
            continue
        if kind in _REPEATS:
            if _starts(value[2], character):
                return True
            if value[0] == 0:
                continue
            return False
        within = inside(kind, value)
        return any(_starts(each, character) for each in within) if within else _matches(kind, value, character)
    return False


class TooSlow(Exception):
    """The work was stopped at its time limit."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def seconds(work: Callable[[], object], at_most: float) -> float:
    """CPU time of ``work``; past ``at_most`` it is stopped, and the result is infinite. Only in the main thread."""
    before = signal.signal(signal.SIGPROF, _stop)
    started = time.thread_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, at_most)
        work()
        return time.thread_time() - started
    except TooSlow:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)

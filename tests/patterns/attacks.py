"""Texts on which a backtracking engine takes long, made from a pattern's own syntax tree, and how long it does.

What makes a pattern slow is a repetition that can share its text with itself, with a neighbor or with the next start
of a search. So each repetition is reached once, pumped with whatever it or its neighbors match, and made to fail
behind that; and what stands before it is repeated, so that a search starts anew again and again.
"""

from __future__ import annotations

import itertools
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from re import _constants as sre
from re import _parser
from types import FrameType
from typing import Any

MAX_UNITS = 12
"""Pumps of one repetition."""
MAX_ATTACKS = 800
"""Of one pattern; of more, which patterns of hundreds of names have, each second, third …"""
LONG = 16
"""A repetition of fewer times is no place to wait in."""
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_CATEGORIES = {
    sre.CATEGORY_SPACE: " \n",
    sre.CATEGORY_NOT_SPACE: "a,",
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_NOT_DIGIT: "a ,",
    sre.CATEGORY_WORD: "a1",
    sre.CATEGORY_NOT_WORD: " ,",
}
_TRIED = "a A1,.-($\n\x00%&'"
"""For negated sets."""
_ALONE = (" ", "\n", "a", "1", "A", ",", "(", "-", ".", "$", "|", "a ", "1 ", ", ", " \n", "A.", "1,", "Aa ")

Nodes = Sequence[tuple[Any, Any]]


def attacks(pattern: re.Pattern[Any], *, searches: bool = True) -> list[tuple[str, str, str]]:
    """(before, pump, after) for ``before + pump * n + after``, each once. ``searches``: every place of the text is
    tried, not its beginning alone."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    tree = list(_parser.parse(source, flags))
    found: dict[tuple[str, str, str], None] = {}
    for before, units in _repetitions(tree, ""):
        pumps = [*units, *(a + b for a, b in itertools.permutations(units[:3], 2))][: MAX_UNITS]
        for pump in dict.fromkeys(pump for pump in pumps if pump):
            found.setdefault((before, pump, "\x00"))
            found.setdefault((before, pump, "\n\x00" if "\n" not in pump else ""))
        if before and searches:
            found.setdefault(("", before, ""))
            found.setdefault(("", before, "\x00"))
    for pump in (*_ALONE, *_samples(tree)):
        if pump:
            found.setdefault(("", pump, "\x00"))
    return list(found)[:: 1 + len(found) // MAX_ATTACKS]


def _repetitions(nodes: Nodes, before: str) -> Iterator[tuple[str, list[str]]]:
    """What leads to each repetition of ``nodes``, and what it may be pumped with."""
    for at, (kind, value) in enumerate(nodes):
        if kind in _REPEATS:
            low, high, body = value
            units = list(dict.fromkeys([*_samples(body), *_first_characters(body)]))
            if high >= LONG:
                around = [*_neighbours(reversed(nodes[:at])), *_neighbours(nodes[at + 1 :])]
                yield before, list(dict.fromkeys([*units, *around]))
            yield from _repetitions(body, before)
            before += (units[0] if units else "") * low
        else:
            for inner in _inside(kind, value):
                yield from _repetitions(inner, before)
            before += next(iter(_samples([(kind, value)])), "")


def _neighbours(nodes: Iterable[tuple[Any, Any]]) -> list[str]:
    """First characters of what stands next, as far as it may be left out."""
    found: list[str] = []
    for kind, value in nodes:
        found += _first_characters([(kind, value)])
        if kind not in (*_REPEATS, sre.AT, sre.ASSERT, sre.ASSERT_NOT) or (kind in _REPEATS and value[0] > 0):
            break
    return found


def _inside(kind: Any, value: Any) -> list[Nodes]:
    if kind is sre.SUBPATTERN:
        return [value[3]]
    if kind is sre.ATOMIC_GROUP:
        return [value]
    if kind is sre.BRANCH:
        return list(value[1])
    if kind in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    if kind is sre.GROUPREF_EXISTS:
        return [each for each in value[1:] if each]
    return []


def _samples(nodes: Nodes) -> list[str]:
    """Some texts that match ``nodes``: with all that may be left out, and without; for each alternative."""
    found = [""]
    for kind, value in nodes:
        if kind in _REPEATS:
            low, _, body = value
            once = _samples(body)
            options = [each * max(low, 1) for each in once] + ([""] if low == 0 else [])
        elif kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT, sre.GROUPREF):
            continue
        elif inside := _inside(kind, value):
            options = [text for each in inside for text in _samples(each)]
            if kind is sre.BRANCH and all(node is sre.LITERAL for each in inside for node, _ in each):
                options = options[:1]
        else:
            options = _characters(kind, value)
        # With every first choice, and with each other choice in one place.
        found = [found[0] + option for option in options] + [text + options[0] for text in found[1:] if options]
        found = list(dict.fromkeys(found))[:MAX_UNITS]
    return found


def _first_characters(nodes: Nodes) -> list[str]:
    found: list[str] = []
    for kind, value in nodes:
        if kind in _REPEATS:
            found += _first_characters(value[2])
            if value[0] > 0:
                break
        elif kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT, sre.GROUPREF):
            continue
        elif inside := _inside(kind, value):
            for each in inside:
                found += _first_characters(each)
            break
        else:
            found += _characters(kind, value)
            break
    return list(dict.fromkeys(found))


def _characters(kind: Any, value: Any) -> list[str]:
    """Some characters that a node matches."""
    if kind is sre.LITERAL:
        return [chr(value)]
    if kind is sre.ANY:
        return ["a", " "]
    if kind is sre.NOT_LITERAL:
        return [character for character in _TRIED if ord(character) != value][:4]
    if kind is not sre.IN:
        return []
    if value[0][0] is sre.NEGATE:
        source = _accepts(value[1:])
        return [character for character in _TRIED if not source(character)][:4]
    found: list[str] = []
    for each, what in value:
        if each is sre.LITERAL:
            found.append(chr(what))
        elif each is sre.RANGE:
            found.append(chr(what[0]))
        elif each is sre.CATEGORY:
            found += _CATEGORIES[what]
    return list(dict.fromkeys(found))[:8]


def _accepts(items: Nodes) -> Callable[[str], bool]:
    def accepts(character: str) -> bool:
        for kind, value in items:
            if kind is sre.LITERAL and value == ord(character):
                return True
            if kind is sre.RANGE and value[0] <= ord(character) <= value[1]:
                return True
            if kind is sre.CATEGORY and _in_category(value, character):
                return True
        return False

    return accepts


def _in_category(category: Any, character: str) -> bool:
    tests: dict[Any, Callable[[str], bool]] = {
        sre.CATEGORY_SPACE: str.isspace,
        sre.CATEGORY_DIGIT: str.isdigit,
        sre.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    }
    opposite = {
        sre.CATEGORY_NOT_SPACE: sre.CATEGORY_SPACE,
        sre.CATEGORY_NOT_DIGIT: sre.CATEGORY_DIGIT,
        sre.CATEGORY_NOT_WORD: sre.CATEGORY_WORD,
    }
    if category in opposite:
        return not tests[opposite[category]](character)
    return tests[category](character)


class TooSlow(Exception):
    pass


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def seconds(work: Callable[[], object], at_most: float) -> float:
    """Processor time of ``work``, which is stopped past ``at_most``: infinite then. For the main thread."""
    before = signal.signal(signal.SIGPROF, _stop)
    started = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, at_most)
        work()
        return time.process_time() - started
    except TooSlow:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)

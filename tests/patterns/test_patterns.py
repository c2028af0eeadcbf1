"""Every pattern of finray reads the longest text that the code gives it, however hostile, in under 0.2 s of one
processor."""

from __future__ import annotations

import importlib
import re
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import pytest

from finray.answering.sentences import kinds
from finray.core import forms
from finray.core.settings import ChunkSettings, FilingSettings
from finray.filings.cover import facts, names, registrant, release
from finray.filings.pages import items
from finray.filings.tables import cells, note_units, statements
from finray.filings.tables.grids import MAX_LABEL
from finray.hirec.exchange import MAX_QUESTION_CHARACTERS
from finray.lab.training import plan_samples
from finray.question.periods import shorthand
from finray.retrieval import meant_company
from tests.patterns.attacks import AT_MOST_S, BUSY, Attack, attacks, exhaustive, seconds
from tests.patterns.inventory import ANCHORED, Found, inventory

LONGEST = FilingSettings().max_page_characters
"""Length of a page. Patterns that read longer texts, such as submissions, take linear time."""
LIMITS = {
    "finray/question/": MAX_QUESTION_CHARACTERS,
    "finray/retrieval/subjects.py": MAX_QUESTION_CHARACTERS,
    "finray/retrieval/meant_company.py": MAX_QUESTION_CHARACTERS,
    "finray/retrieval/own_names.py": ChunkSettings().size,
    "finray/answering/plans/wording.py": MAX_QUESTION_CHARACTERS,
    "finray/answering/presence.py _NAME": MAX_QUESTION_CHARACTERS,
    "finray/answering/cells/operands.py": MAX_LABEL,
    "finray/answering/cells/filing_cells.py": 2 * MAX_LABEL,
    "finray/answering/qualifiers.py": MAX_QUESTION_CHARACTERS,
    "finray/answering/sentences/kinds.py": kinds.MAX_CHARACTERS,
    "finray/answering/cells/cell_words.py": MAX_LABEL,
    "finray/answering/cells/row_match.py": MAX_LABEL,
    "finray/filings/tables/canonical.py": 2 * MAX_LABEL,
    "finray/filings/tables/cells.py": cells.MAX_CELL,
    "finray/filings/tables/note_units.py made as wording": note_units.MAX_NAMED,
    "finray/filings/tables/note_units.py _KINDS": note_units.MAX_NAMED,
    "finray/filings/tables/note_units.py _BARE": note_units.MAX_NAMED,
    "finray/filings/cover/release.py _NAME_AT_END": release._NAME_REACH,
    "finray/lab/training/plan_samples.py _STEP": plan_samples.LONGEST_PROGRAM,
    "finray/lab/datasets/xbrl/concepts.py": facts.MAX_FACT,
}
"""File (a prefix, optionally with a pattern's name) -> characters read, if fewer than ``LONGEST``."""
SCREENED = (250, 1000)
LINEAR = 5.0
"""Time that grows less than this factor from the first length to the second, four times as long, counts as linear."""

_NAME = "a" * (names.MAX_NAME - 1) + "."
EXAMPLES: dict[str, Sequence[Mapping[str, Any]]] = {
    "finray/answering/qualifiers.py": [
        {"joined": "net of|before (?:income )?tax(?:es)?", "entry": {"named": "gross|net"}}
    ],
    "finray/answering/table_reader/initials.py": [{"names": {"North America Beverages": "NAB", "FLNA": "Frito-Lay"}}],
    "finray/question/forms.py": [{"form": form} for form in forms.FORMS if form.asked],
    "finray/answering/sentences/kinds.py": [
        {"words": [kinds._pattern(table, key).pattern]}
        for table, keys in kinds._data().items()
        for key in keys
        if not isinstance(kinds._data()[table][key], str)
    ],
    "finray/answering/grounding.py": [{"figure": "1" * 30}],
    "finray/answering/presence.py": [
        {
            "word": "a" * 100,
            "found": "Acme Widget",
            "companies": "Torvane|Ruthimoor",
            "beside": r"(?:['’]s?)?(?:, | and | or )",
        }
    ],
    "finray/filings/tables/canonical.py": [],
    "finray/question/periods/shorthand.py": [
        {"pattern": pattern.pattern}
        for pattern, _ in (*shorthand._DATES, *shorthand._ENDS, *shorthand._PARTS, *shorthand._YEARS)
    ],
    "finray/retrieval/question_names.py": [{"core": ("acme", "widget", "holdings"), "name": "acme widget"}],
    "finray/filings/pages/items.py": [{"item": item, "pattern": title} for item, title in items._TITLES.items()],
    "finray/filings/cover/names.py": [{"words": [_NAME]}],
    "finray/filings/tables/note_units.py": [{"wording": wording} for _, wording in note_units._WORDINGS],
    "finray/filings/phrases.py": [],
    "finray/filings/cover/registrant.py": [
        {"name": _NAME, "pattern": r"[\W_]{0,3}".join(registrant._LOOKS.get(letter, letter) for letter in "maoi" * 30)}
    ],
    "finray/filings/cover/release.py": [
        {"subject": _NAME, "suffix": suffix} for suffix in (release._LEGAL_FORM, release._WIDER_FORM)
    ],
    "finray/filings/tables/statements.py": [{"pattern": pattern} for _, pattern in statements._TITLES],
    "finray/lab/datasets/lofin_builder/rewriting.py": [{"filing": SimpleNamespace(ticker="ABCD"), "year": 2021}],
    "finray/lab/datasets/xbrl/evidence.py": [{"_digits": str, "printed": 10**20}],
    "finray/lab/datasets/xbrl/members.py": [{"parts": ["a"] * 30}],
    "finray/lab/evaluation/html/excerpts.py": [{"pattern": r"1,?111,?111(?:\.0+)?"}],
    "finray/lab/evaluation/judging/constructed.py": [{"own": _NAME, "pairs": ["up", "rose", "higher than"]}],
    "finray/question/measures/definitions.py": [{"word": "divided by"}],
    "finray/question/intents.py": [],
    "finray/question/measures/mentions.py": [],
    "finray/question/measures/phrase.py": [{"longest_first": "a a|a"}],
    "finray/question/rule_reader.py": [{"name": "a" * 100}],
    "finray/question/measures/units.py": [],
    "finray/retrieval/subjects.py": [],
    "finray/answering/part_names.py": [{"name": "AWS"}],
    "finray/retrieval/own_names.py": [],
    "finray/retrieval/meant_company.py": [
        {"found": "Acme Widget", "pattern": rf"(?:{meant_company._CAPITALS}{meant_company._JOINING})?Acme"}
    ],
    "finray/retrieval/unidentified.py": [{"cores": [["a"] * 8, ["a"]]}],
}
"""File that builds patterns -> names of them; none if the inventory has them."""


@cache
def patterns() -> list[Found]:
    known, unread = inventory()
    made = []
    for call in unread:
        module = importlib.import_module(call.file.removesuffix(".py").replace("/", "."))
        assert call.file in EXAMPLES, f"{call.file} puts a pattern together: give an example of {call.pattern}"
        for example in EXAMPLES[call.file]:
            text = eval(call.pattern, vars(module), dict(example))  # noqa: S307 - our own source
            made.append(Found(call.file, f"made as {call.pattern}", re.compile(text, re.IGNORECASE)))
    return [*known, *made]


def limit(found: Found) -> int:
    name = f"{found.file} {found.name}"
    return next((characters for start, characters in LIMITS.items() if name.startswith(start)), LONGEST)


def slow(found: Found, *, thorough: bool = False, step: int = 1) -> str | None:
    """The first attack under which ``found`` takes too long, of every ``step``-th. Unless ``thorough``, attacks whose
    time grows with the length alone are not tried at full length."""
    longest = limit(found)
    for attack in attacks(found.pattern, searches=_searches(found))[::step]:
        if not thorough and longest > SCREENED[1] and _linear(found, attack, longest):
            continue
        taken = _fastest(found, attack, longest, AT_MOST_S * BUSY)
        if taken > AT_MOST_S * BUSY:
            return f"{found.file} {found.name}, {longest:,} characters: {attack!a} takes {taken:.2f} s"
    return None


def _linear(found: Found, attack: Attack, longest: int) -> bool:
    units = 1 + len(attack.pump) // 4
    for _ in range(2):
        short, long = (_seconds(found, attack, length * units, AT_MOST_S) for length in SCREENED)
        if long < LINEAR * short and long * longest / (SCREENED[1] * units) < AT_MOST_S:
            return True
    return False


def _fastest(found: Found, attack: Attack, length: int, at_most: float) -> float:
    """The minimum of three runs, unless the first is good enough."""
    times = (_seconds(found, attack, length, at_most) for _ in range(3))
    first = next(times)
    return first if first < at_most else min(first, *times)


def _seconds(found: Found, attack: Attack, length: int, at_most: float) -> float:
    text: Any = attack.text(length)
    if isinstance(found.pattern.pattern, bytes):
        text = text.encode("latin-1", "replace")
    return seconds(partial(_read, found, text), at_most)


def _read(found: Found, text: str) -> None:
    if _searches(found):
        found.pattern.search(text) if found.methods == {"search"} else deque(found.pattern.finditer(text), maxlen=0)
    if not found.methods or found.methods & ANCHORED:
        found.pattern.match(text)
        found.pattern.fullmatch(text)


def _searches(found: Found) -> bool:
    return not found.methods or bool(found.methods - ANCHORED)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_no_pattern_is_slow(step: int) -> None:
    assert not "\n".join(filter(None, map(partial(slow, step=step), patterns())))


@exhaustive
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_no_pattern_is_slow_under_any_attack_at_full_length() -> None:
    assert not "\n".join(filter(None, map(partial(slow, thorough=True), patterns())))


@pytest.mark.parametrize("pattern", [r"(?:,?\s*\b(?:for|in)\s+|,\s*)*", r"\s+$", r"a.*b.*c"])
def test_slow_patterns_are_found(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.patterns.test_patterns.BUSY", 1.0)  # they take far longer
    assert slow(Found("", "", re.compile(pattern)))

"""Tables and prose as Markdown without HTML. Text from filings cannot break its cells or lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from finray.core.readable import readable

MAX_CELL = 300
"""Characters of a cell; a longer one is cut."""
_USUAL = re.compile(r"[\x20-\x7e“”‘’—–•§€£¥¢]*")
"""Text that is readable as it is; ``readable`` inspects each character."""
_SPECIAL = re.compile(r"[\\|`<]")


def plain(text: str) -> str:
    """``text`` on one line, with characters escaped that Markdown would read as a cell, code or HTML."""
    shown = " ".join((text if _USUAL.fullmatch(text) else readable(text)).split())
    return _SPECIAL.sub(r"\\\g<0>", shown)


@lru_cache(maxsize=16_384)  # dashes, years and labels recur
def cell(text: str) -> str:
    """``text`` for a cell of a table."""
    shown = " ".join(text.split())
    return plain(shown) if len(shown) <= MAX_CELL else f"{plain(shown[:MAX_CELL])} …"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain cells: labels at the left, figures at the right."""
    return "\n".join([row(heads), "|---|" + "---:|" * (len(heads) - 1), *map(row, rows)])


def row(cells: Sequence[str]) -> str:
    return "|" + "|".join(map(cell, cells)) + "|"


def heading(title: str, note: str = "") -> str:
    """A line in bold, with a note in parentheses."""
    shown = f"**{plain(title).replace('*', '')}**" if title.strip() else ""
    return f"{shown} ({plain(note)})".strip() if note else shown


def tokens(text: str) -> int:
    """About how many tokens of a language model ``text`` has: four characters each."""
    return -(-len(text) // 4)

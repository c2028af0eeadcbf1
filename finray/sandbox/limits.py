"""Limits for a program of thought and its values, far above what arithmetic over filings needs."""

from __future__ import annotations

from typing import Literal

SOURCE_CHARACTERS = 10_000
BRACKET_DEPTH = 50
"""Checked before parsing: CPython's parser has crashed on deeper nesting."""
TREE_DEPTH = 100
TREE_NODES = 5_000
NAME_CHARACTERS = 60
STRING_CHARACTERS = 1_000
INTEGER_BITS = 340
"""A little over 10**100."""
VALUE_DEPTH = 5
"""Nesting of lists in lists."""
STEPS = 300_000
"""Nodes evaluated plus elements made or looked through: about half a second."""
RESULT_CHARACTERS = 64_000
REQUEST_BYTES = 60_000
"""Less than a pipe holds."""

Reason = Literal["syntax", "refused", "failed", "limit", "timeout", "memory", "crashed"]


class Fault(Exception):
    """Why a program has no result. ``message`` is for people; ``line`` counts from 1 and is None if none is at fault.

    ``syntax``: not a program; ``refused``: outside the language; ``failed``: division by zero and the like;
    ``limit``: too large or too long; ``timeout``, ``memory``, ``crashed``: the process ended.
    """

    def __init__(self, reason: Reason, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
        self.line = line

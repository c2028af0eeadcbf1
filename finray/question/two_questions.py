"""Two questions in one: "what was revenue in 2022, and how much is that up on a year ago?"."""

from __future__ import annotations

import re

_ASKS = (
    r"(?:by\s+)?how\s+(?:much|many|big|fast|large|high)|"
    r"(?:what|which|who|when|why|where)\s+(?:is|are|was|were|did|does|do|has|have|had)"
)
_FIRST = re.compile(rf"^\W*(?:{_ASKS}|in\s+which|whose|did|does|do|was|were|is|are|has|have)\b", re.I)
_SECOND = re.compile(rf",?\s+and\s+(?=(?:{_ASKS})\b)", re.I)


def two_questions(text: str) -> tuple[str, str]:
    """The two questions that "and" joins in ``text``, each with its own interrogative; ``text`` and "" if it is one.

    >>> two_questions("What was Acme's revenue in 2022, and how much is that up on a year ago?")
    ("What was Acme's revenue in 2022?", 'How much is that up on a year ago?')
    """
    joints = list(_SECOND.finditer(text)) if _FIRST.search(text) else []
    if len(joints) != 1:
        return text, ""
    first, second = text[: joints[0].start()].rstrip(" ,;"), text[joints[0].end() :]
    return f"{first}?", second[:1].upper() + second[1:]

"""Replies to the prompts by which chat front ends ask their model for a title, tags or follow-up questions.

finray answers from filings and writes no titles. Open WebUI sends such prompts to the model of the chat by default; it
gets the first question as title, and empty lists otherwise.
"""

from __future__ import annotations

import json
import re

_TASK = re.compile(r"\s*#{1,4} ?Task:")
_WANTED = re.compile(r"\{\s*\"(\w{1,40})\"\s*:\s*([\[\"])")
_FIRST_QUESTION = re.compile(r"<chat_history>\s*(?:user|human)\s*:\s*([^\n]+)", re.I)
_TITLE_CHARACTERS = 60


def task_reply(prompt: str) -> str | None:
    """JSON in the form that ``prompt`` shows; None if it is a question, not such a prompt."""
    wanted = _WANTED.search(prompt) if _TASK.match(prompt) else None
    if wanted is None:
        return None
    name, kind = wanted.groups()
    if kind == "[":
        return json.dumps({name: []})
    first = _FIRST_QUESTION.search(prompt) if name == "title" else None
    return json.dumps({name: _shortened(first[1].strip()) if first is not None else ""}, ensure_ascii=False)


def _shortened(text: str) -> str:
    return text if len(text) <= _TITLE_CHARACTERS else text[: _TITLE_CHARACTERS - 1].rstrip() + "…"

"""Validates the fields of a question record: returns clean values, or raises ``QuestionError`` for hostile ones."""

from __future__ import annotations

import math
import re

from finray.core.errors import QuestionError
from finray.core.questions import GoldEvidence

EXCERPT_CHARACTERS = 200
"""Longest excerpt of a bad line in a message: a line may have megabytes."""
MAX_QID_CHARACTERS = 256
MAX_CONTEXT = 20
"""At most this many earlier questions of a conversation are read, the newest ones."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # tab, line feed and carriage return may stay
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def read_qid(value: object) -> str:
    if value is None:
        raise QuestionError("no qid: the field 'qid' is missing or null")
    if isinstance(value, float) and not math.isfinite(value):
        raise QuestionError(f"'qid' is {value}")
    if (number := _number_text(value)) is not None:
        value = number
    if not isinstance(value, str):
        raise QuestionError(f"'qid' is {kind(value)}, not text or a number")
    if not value.strip():
        raise QuestionError("'qid' is blank")
    if len(value) > MAX_QID_CHARACTERS:
        raise QuestionError(f"'qid' has {len(value):,} characters, more than {MAX_QID_CHARACTERS}")
    _check_text("qid", value)
    return value


def read_question(value: object, max_characters: int) -> str:
    if value is None:
        raise QuestionError("no question: the field 'question' is missing or null")
    if not isinstance(value, str):
        raise QuestionError(f"'question' is {kind(value)}, not text")
    if len(value) > max_characters:
        raise QuestionError(
            f"the question has {len(value):,} characters, more than the {max_characters:,} "
            "that bulk.max_question_characters allows"
        )
    _check_text("question", value)
    if not value.strip():
        raise QuestionError("the question is blank")
    return value.strip()


def read_context(value: object, max_characters: int) -> tuple[str, ...]:
    """The newest ``MAX_CONTEXT`` earlier questions."""
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise QuestionError(f"'context' is {kind(value)}, not a list of earlier questions")
    return tuple(read_question(each, max_characters) for each in value[-MAX_CONTEXT:])


def single_spaced(text: str) -> str:
    """``text`` with every run of white space as one space, so that rules need not match runs."""
    return " ".join(text.split())


def read_answer(value: object) -> str | None:
    number = _number_text(value)
    return number if number is not None else _optional_text("answer", value)


def read_answer_or_exact(answer: object, exact: object) -> str | None:
    """The gold answer, or ``exact`` if it is absent or blank. FinQA computes ``exact`` from its program."""
    given = read_answer(answer)
    return given if exact is None or (given or "").strip() else read_answer(exact)


def read_question_type(value: object) -> str | None:
    return _optional_text("question_type", value)


def _number_text(value: object) -> str | None:
    """A finite number as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return None if isinstance(value, float) and not math.isfinite(value) else str(value)


def _optional_text(name: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise QuestionError(f"{name!r} is {kind(value)}, not text")
    return None if value is None else _repaired(value)


def read_evidence(value: object) -> tuple[GoldEvidence, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise QuestionError(f"'evidence' is {kind(value)}, not a list of {{doc_name, page}}")
    return tuple(_gold(index, entry) for index, entry in enumerate(value, start=1))


def read_value(value: object) -> float | None:
    """The gold number, None for anything else: other projects' question files use the field differently."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    number = float(value) if isinstance(value, float) or abs(value) < 10**300 else math.inf
    return number if math.isfinite(number) else None


def read_note(value: object) -> str | None:
    """A gold unit or program, None for anything but text."""
    return _repaired(value) if isinstance(value, str) else None


def _gold(index: int, entry: object) -> GoldEvidence:
    if not isinstance(entry, dict):
        raise QuestionError(f"evidence {index} is {kind(entry)}, not an object with doc_name and page")
    doc_name, page, text = entry.get("doc_name"), entry.get("page"), entry.get("text")
    if not isinstance(doc_name, str) or not doc_name.strip():
        raise QuestionError(f"evidence {index}: 'doc_name' is {kind(doc_name)}, not the name of a filing")
    if page is not None:
        page = _page(f"evidence {index}: 'page'", page)
    if text is not None and not isinstance(text, str):
        raise QuestionError(f"evidence {index}: 'text' is {kind(text)}, not text")
    others = entry.get("alternative_pages")
    if others is not None and not isinstance(others, list):
        raise QuestionError(f"evidence {index}: 'alternative_pages' is {kind(others)}, not a list of pages")
    if others and page is None:
        raise QuestionError(f"evidence {index}: 'alternative_pages' without a 'page'")
    alternatives = [_page(f"evidence {index}: an alternative page", other) for other in others or ()]
    start, end = (entry.get(side) for side in ("start", "end"))
    if (start, end) != (None, None):
        start, end = (_page(f"evidence {index}: {side!r}", entry.get(side)) for side in ("start", "end"))
        if page is None or end <= start:
            raise QuestionError(f"evidence {index}: characters {start} to {end} are not a span of the page")
    return GoldEvidence(
        _repaired(doc_name),
        page,
        None if text is None else _repaired(text),
        tuple(dict.fromkeys(alternatives)),
        start,
        end,
    )


def _page(what: str, page: object) -> int:
    if isinstance(page, float) and page.is_integer():  # data frames turn integers with nulls into floats
        page = int(page)
    if not isinstance(page, int) or isinstance(page, bool) or page < 0:
        raise QuestionError(f"{what} is {excerpt(repr(page), 40)}, not an index from 0")
    return page


def _check_text(name: str, value: str) -> None:
    control = _CONTROL.search(value)
    if control is not None:
        code = f"U+{ord(control[0]):04X}"
        raise QuestionError(f"{name!r} has the control character {code} at {control.start() + 1}")
    surrogate = _SURROGATE.search(value)
    if surrogate is not None:
        where = f"U+{ord(surrogate[0]):04X}, at {surrogate.start() + 1}"
        raise QuestionError(f"{name!r} has half a surrogate pair, {where}: it was cut in the middle of a character")


def _repaired(text: str) -> str:
    """Gold text is only compared, so half a surrogate pair in it does not make the question bad."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"{value}".lower()
    names = {dict: "an object", list: "a list", str: "text", int: "a number", float: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")


def excerpt(text: str, limit: int = EXCERPT_CHARACTERS) -> str:
    """``text`` on one printable line of at most ``limit`` characters, safe for messages and logs."""
    line = re.sub(r"[\r\n\t]+", " ", text[:limit])
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return shown + "…" if len(text) > limit else shown

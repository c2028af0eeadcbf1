"""Finds what went wrong in a worker, as one line."""

from __future__ import annotations

import re

from ray.exceptions import RayError

_CAUSE = re.compile(r"^(?:\w+\.)*(?P<name>\w+(?:Error|Exception)): ", re.MULTILINE)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def cause_of(error: RayError) -> str:
    """The last exception in Ray's text, which lists the tracebacks of all processes."""
    text = _ANSI.sub("", str(error))
    found = [*_CAUSE.finditer(text)]
    cause = text[found[-1].start("name") :] if found else f"{type(error).__name__}: {text}"
    return " ".join(cause.split())

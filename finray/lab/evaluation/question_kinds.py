"""Assigns FinGEAR's question types (arXiv 2509.12042, appendix J): numerical or categorical by the answer, simple or
complex by the steps of the program."""

from __future__ import annotations

import re
from typing import Final, Literal

from finray.core.questions import Question
from finray.lab.evaluation.metrics import numeric_reference

AnswerKind = Literal["numerical", "categorical"]
Complexity = Literal["simple", "complex"]
_YES_NO: Final = re.compile(r"\W*(yes|no)(?:\s*[^\w\s]|\s*$)", re.I)
_STEP: Final = re.compile(r"\b[a-z]+(?:_[a-z]+)*\s*\(", re.I)
_OPERATOR: Final = re.compile(r"(?<=[\w)\]])\s*[-+*/]\s*(?=[\w(#-])")
_SCALE: Final = re.compile(r"\*\s*100\b")
_TAGGED: Final = re.compile(r"\[[^][]{0,500}\]|\b[\w-]{1,60}:[\w-]{1,200}|\b(?:19|20)\d\d-\d\d-\d\d\b")


def answer_kind(question: Question) -> AnswerKind | None:
    """ "categorical" for an answer that begins with yes or no, "numerical" for a number; None for other answers, or
    without one."""
    if yes_or_no(question.answer or ""):
        return "categorical"
    return "numerical" if numeric_reference(question) is not None else None


def yes_or_no(text: str) -> Literal["yes", "no"] | None:
    """The word that ``text`` begins with, if it stands by itself: "No, it fell" but not "No debt was repaid"."""
    found = _YES_NO.match(text)
    return None if found is None else "yes" if found[1].lower() == "yes" else "no"


def complexity(question: Question) -> Complexity | None:
    """ "simple" for a program of one step or none, "complex" for more; None without a program.

    Programs are FinQA's (``subtract(5829, 5735), divide(#0, 5735)``) or arithmetic over names and tagged facts.
    """
    program = question.program or ""
    if not program.strip():
        return None
    return "complex" if program_steps(program) > 1 else "simple"


def program_steps(program: str) -> int:
    """Operations of a program, without the factor of a percentage; 0 for a single value."""
    if calls := _STEP.findall(program):
        return len(calls)
    return len(_OPERATOR.findall(_SCALE.sub("", _TAGGED.sub("x", program))))

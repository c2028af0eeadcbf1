"""Prompts of the language-model roles: the content of the paper's (tables 16-20) in our own words.

Fixed instructions come first, the question and passages last, so that a server's prefix cache applies. Filing text is
fenced (``finray.models.fences``) and declared to be data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from finray.models.conversation import DATA_RULE


@dataclass(frozen=True, slots=True)
class Prompt:
    """The request of one stage: fixed instructions and the JSON schema of the reply."""

    stage: str
    instructions: str
    schema: Mapping[str, Any]


def _schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with exactly ``properties``."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_IDS = {"type": "array", "items": {"type": "integer"}}

TRANSFORM = Prompt(
    "transform",
    "You prepare search queries over SEC filings. Rewrite the user's question as one short query that names the "
    "company, the fiscal period, the kind of report and the figure or subject sought. Spell out abbreviations of "
    "accounting terms. Leave out personas, formatting wishes, rounding and other instructions. Do not answer it. "
    "Give the query in `query`.",
    _schema(query=_TEXT),
)

CURATE = Prompt(
    "curate",
    "You check evidence for a question about SEC filings. " + DATA_RULE + " Do three things. (1) List in "
    "`relevant_ids` the ids of the passages that help to answer; leave out look-alikes of another company, year or "
    "table. (2) Say in `answerable` whether the kept passages together suffice to answer in full. (3) If they do not, "
    "say in `missing` what is missing and write in `follow_up_question` one question that would find exactly that; "
    "name company, period and figure in it. Leave both empty otherwise.",
    _schema(
        relevant_ids=_IDS | {"title": "Relevant passage ids"},
        answerable={"type": "boolean"},
        missing=_TEXT,
        follow_up_question=_TEXT,
    ),
)

ANSWER = Prompt(
    "answer",
    "You answer questions about SEC filings from the given passages alone. " + DATA_RULE + " Think step by step in "
    "`reasoning`: which figures are needed, in which passage each stands, with its unit, scale and period. List in "
    "`citations` the ids of the passages that the answer rests on. "
    "If the question asks for a number, write in `program` a short program that computes it: assign each figure, as "
    "printed in a cited passage and times its scale (1,577 in millions is 1577 * 10**6), to a name that says what it "
    "is; compute; assign the result to `answer`. Give percentages as 12.5 for 12.5%. The program may use numbers, "
    "names, + - * / // % **, comparisons, if, for, lists, and the functions abs, min, max, sum, round, len, range, "
    "sorted, zip, sqrt, log and exp; no import, def, while, print, texts or methods. A number that no cited passage "
    "prints may only scale, divide or count. Name the number's unit in `unit`: USD, USD/share, percent, ratio, days, "
    "shares, or what else it is. "
    "If the question asks for something else, leave `program` and `unit` empty and answer in one to three sentences in "
    "`answer`, with figures only as the passages print them. "
    "If the passages do not hold what is needed, set `answerable` to false and say in `answer` what is missing.",
    _schema(
        reasoning=_TEXT,
        answerable={"type": "boolean"},
        citations=_IDS,
        program=_TEXT,
        unit=_TEXT,
        answer=_TEXT,
    ),
)


def with_at_most(passages: int, schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` with lists of passage ids limited to the number of ``passages``: weak models count on without end."""
    properties = {
        name: {**described, "maxItems": passages} if described.get("type") == "array" else described
        for name, described in schema["properties"].items()
    }
    return {**schema, "properties": properties}

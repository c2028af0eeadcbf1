"""Keywords of a question, on two levels (LightRAG, arXiv 2410.05779, section 3.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from finray.core.query import Query
from finray.core.question_fields import single_spaced
from finray.models.conversation import conversation
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.methods.asking import MAX_QUERY_CHARACTERS, Asker

EXTRACT: Final = (
    "You extract keywords from a question over SEC filings, to search a knowledge graph. Give in `high_level_keywords` "
    "its overarching concepts or themes: what it asks for and the subject area. Give in `low_level_keywords` its "
    "specific entities and details: companies, line items, products, people, places, periods. Use only what the "
    "question says; prefer a phrase to its single words."
)
_LIST: Final = {"type": "array", "items": {"type": "string"}}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"high_level_keywords": _LIST, "low_level_keywords": _LIST},
    "required": ["high_level_keywords", "low_level_keywords"],
    "additionalProperties": False,
}
_NAME = re.compile(r"(?<!^)\b[A-Z][\w&’'-]*(?:\s[A-Z][\w&’'-]*)*")


@dataclass(frozen=True, slots=True)
class Keywords:
    """Texts to search for: ``low`` finds entities, ``high`` relations."""

    low: str
    high: str


async def asked_keywords(query: Query, asker: Asker) -> Keywords:
    """The keywords that the model writes. Raises ModelReplyError if there are none on either level."""
    reply = await asker.reply(conversation(EXTRACT, query.question), schema=SCHEMA)
    low, high = (_joined((reply.parsed or {}).get(name)) for name in ("low_level_keywords", "high_level_keywords"))
    if not (low or high):
        raise asker.unusable(f"asked for keywords, got {single_spaced(reply.text)[:120]!r}")
    return Keywords(low or high, high or low)


def _joined(words: object) -> str:
    if not isinstance(words, list):
        return ""
    return single_spaced(", ".join(word for word in words if isinstance(word, str)))[:MAX_QUERY_CHARACTERS]


def read_keywords(query: Query, catalog: CompanyCatalog) -> Keywords:
    """Keywords by rules: companies or names, metrics and periods are low, the question is high."""
    companies = [catalog.companies[key].name for key in query.companies if key in catalog.companies]
    metrics = [metric.replace("_", " ") for metric in query.metrics]
    periods = [str(period) for period in query.periods]
    names = [] if companies else _NAME.findall(query.question)
    low = ", ".join(dict.fromkeys((*companies, *names, *metrics, *periods)))
    return Keywords(low or query.question, query.text)

"""``query_expansion``: BM25 for the question and other names of what it asks for, without a model.

Deterministic expansion by a thesaurus (Voorhees, "Query Expansion using Lexical-Semantic Relations", SIGIR 1994). Here
that is the project's accounting vocabulary: names of line items in the question or in the formulas that it names,
including those of the US-GAAP taxonomy; and periods and forms written out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.types import Document, Passage
from finray.filings.canonical import canonical_items
from finray.question.formulas import formulas, line_items
from finray.question.mentions import mentions
from finray.retrieval.flat import AllDocuments
from finray.retrieval.methods.bm25 import LexicalPassages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

_WRITTEN_OUT: Final = (
    (re.compile(r"\bFY\s?'?(?:20)?(\d\d)\b", re.I), r"fiscal year 20\1"),
    (re.compile(r"\bQ1\b", re.I), "first quarter"),
    (re.compile(r"\bQ2\b", re.I), "second quarter"),
    (re.compile(r"\bQ3\b", re.I), "third quarter"),
    (re.compile(r"\bQ4\b", re.I), "fourth quarter"),
    (re.compile(r"\b10-?K\b", re.I), "annual report"),
    (re.compile(r"\b10-?Q\b", re.I), "quarterly report"),
    (re.compile(r"\b8-?K\b", re.I), "current report"),
    (re.compile(r"\bYoY\b", re.I), "year over year"),
)
_CAPITALS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def expansions(question: str, names: int) -> tuple[str, ...]:
    """The additions to ``question``: at most ``names`` other names for each metric, and abbreviations written out."""
    items = canonical_items()
    known = _words(question)
    added: dict[str, None] = {}
    for mention in mentions(question):
        formula = formulas().get(mention.value)
        for key in line_items(formula) if formula else (mention.value,):
            # The taxonomy's name first: it is the wording of the statements.
            others = [*(_CAPITALS.sub(" ", c).lower() for c in items[key].concepts[:1]), *items[key].names]
            count = 0
            for name in others:
                if count < names and not _words(name) <= known:
                    count += 1
                    known |= _words(name)
                    added[name] = None
    for pattern, text in _WRITTEN_OUT:
        added |= dict.fromkeys(match.expand(text) for match in pattern.finditer(question))
    return tuple(added)


def _words(text: str) -> set[str]:
    """Words without a plural s, to skip names without new words, which would only count the old ones twice."""
    return {word.removesuffix("s") for word in re.findall(r"\w+", text.lower())}


class ExpandedPassages:
    def __init__(self, retriever: LexicalPassages, names: int) -> None:
        self._retriever = retriever
        self._names = names

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        added = expansions(query.question, self._names)
        journal.note(f"query expansion: {', '.join(added) or 'nothing to add'}")
        expanded = replace(query, question=" ".join((query.question, *added)))
        return await self._retriever.passages(expanded, documents, k, journal)


def build(tools: Toolbox) -> Retrieval:
    names = tools.settings.methods.query_expansion.names
    return Retrieval(AllDocuments(tools.reader), ExpandedPassages(LexicalPassages(tools.reader), names))

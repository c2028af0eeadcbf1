"""``query_expansion``: BM25 for the question and other names of what it asks for, without a model.

Deterministic expansion by a thesaurus (Voorhees, "Query Expansion using Lexical-Semantic Relations", SIGIR 1994). Here
that is the project's accounting vocabulary: names of line items in the question or in the formulas that it names,
including those of the US-GAAP taxonomy; and periods and forms written out. ``methods.query_expansion.vocabulary`` =
"acronyms" is the smaller expansion of arXiv 2602.17981, section 4.4; its list is not printed, except for two examples.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from finray.core.journal import Journal
from finray.core.query import Query
from finray.filings.tables.canonical import canonical_items
from finray.question.measures.formulas import formulas, line_items
from finray.question.measures.mentions import mentions
from finray.retrieval.methods.bm25 import lexical_passages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import QueryWriter, WrittenPassages

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
_FISCAL_YEAR, _WRITTEN_YEAR = _WRITTEN_OUT[0]
_ACRONYMS: Final = {
    "CAPEX": "capital expenditure", "OPEX": "operating expenses", "PPE": "property plant equipment",
    "PP&E": "property plant equipment", "COGS": "cost of goods sold", "SG&A": "selling general administrative",
    "R&D": "research and development", "D&A": "depreciation and amortization", "AR": "accounts receivable",
    "AP": "accounts payable", "DPO": "days payable outstanding", "DSO": "days sales outstanding",
    "DIO": "days inventory outstanding", "EBIT": "earnings before interest and taxes",
    "EBITDA": "earnings before interest taxes depreciation and amortization", "EPS": "earnings per share",
    "FCF": "free cash flow", "ROA": "return on assets", "ROE": "return on equity", "YoY": "year over year",
}  # fmt: skip
_ACRONYM: Final = re.compile(rf"(?<![\w&])(?:{'|'.join(_ACRONYMS)}|[Cc]apex|[Oo]pex)(?![\w&])")
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


def acronyms_written_out(question: str) -> str:
    """``question`` with its fiscal years spelled "fiscal year 2018", and each acronym written out after it."""
    found = dict.fromkeys(_ACRONYM.findall(question))
    added = dict.fromkeys(_ACRONYMS.get(acronym) or _ACRONYMS[acronym.upper()] for acronym in found)
    return " ".join((_FISCAL_YEAR.sub(_WRITTEN_YEAR, question), *added))


def _words(text: str) -> set[str]:
    """Words without a plural s, to skip names without new words, which would only count the old ones twice."""
    return {word.removesuffix("s") for word in re.findall(r"\w+", text.lower())}


def writer(tools: Toolbox) -> QueryWriter:
    """The question with its expansions."""
    chosen = tools.settings.methods.query_expansion

    async def write(query: Query, journal: Journal) -> Query:
        if chosen.vocabulary == "acronyms":
            written = acronyms_written_out(query.question)
            journal.note(f"query expansion: {written}")
            return replace(query, question=written)
        added = expansions(query.question, chosen.names)
        journal.note(f"query expansion: {', '.join(added) or 'nothing to add'}")
        return replace(query, question=" ".join((query.question, *added)))

    return write


def build(tools: Toolbox) -> Retrieval:
    found = lexical_passages(tools.reader, titled=tools.titled)
    return tools.flat(WrittenPassages(found, writer(tools)))

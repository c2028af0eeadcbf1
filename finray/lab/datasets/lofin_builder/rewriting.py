"""Makes questions about one page open-domain: a language model or rules add company, year and form."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from finray.core.filing import Filing
from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS
from finray.core.predictions import TokenUsage
from finray.filings.cover.names import brand, tidy_name
from finray.lab.datasets.xbrl.phrasing import cased, possessive
from finray.models.chat import ChatModel, Message

By = Literal["llm", "rules", "unusable reply"]

PROMPT = """\
You are a financial AI Assistant. The following financial questions are provided without including the company names \
and document period. Rewrite the questions to include the given information.
- Maintain the original meaning of the question while allowing for varied expressions that enable accurate and \
open-ended responses without altering the factual content.
- The question must include the company name and the report year.
- Ticker is used as information about the company name and should not be included in the question.
- While rephrasing the question, integrate additional information naturally into the sentence without using simple \
connectors like 'In', 'for', or 'according to'.

Document information:
- company ticker: {ticker}
- document_period: {period}

Question: {question}

Output format is ##new_question:"""
"""Table 14 of the paper."""

_REPLY = re.compile(r"#{0,4}\s{0,4}new_question\s{0,4}:?\s{0,4}(?P<question>[^\n]{3,2000})", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """``by`` is "unusable reply" if rules replaced a reply of the language model that lost company or year."""

    text: str
    by: By
    usage: TokenUsage = field(default_factory=TokenUsage)


Rewrite = Callable[[str, Filing, int], Coroutine[Any, Any, Rewritten]]
"""Rewrites a question about a filing of a year as open-domain."""


def company_name(filing: Filing) -> str:
    """The company as people write it: "Coca-Cola" of "THE COCA-COLA COMPANY"."""
    return brand(cased(tidy_name(filing.company)))


async def by_rules(question: str, filing: Filing, year: int) -> Rewritten:
    """Put "According to Coca-Cola's 10-K for fiscal year 2016, " before a question that lacks company or year."""
    if names_company(question, filing) and names_year(question, year):
        return Rewritten(question, "rules")
    form = "annual report" if filing.form == ANNUAL_REPORT_TO_HOLDERS else filing.form
    lowered = question[:1].lower() + question[1:] if question[1:2].islower() else question
    text = f"According to {possessive(company_name(filing))} {form} for fiscal year {year}, {lowered}"
    return Rewritten(text, "rules")


def by_model(model: ChatModel) -> Rewrite:
    """The paper's conversion. A reply without the company's name and the year is unusable, and rules replace it."""

    async def rewrite(question: str, filing: Filing, year: int) -> Rewritten:
        if names_company(question, filing) and names_year(question, year):
            return Rewritten(question, "rules")
        name = company_name(filing)
        ticker = f"{filing.ticker} ({name})" if filing.ticker else name
        period = f"{year} ({filing.form})"
        prompt = PROMPT.format(ticker=ticker, period=period, question=" ".join(question.split()))
        reply = await model.chat([Message("user", prompt)])
        found = _REPLY.search(reply.text)
        text = found["question"].strip().strip("\"'“”") if found else ""
        if text and names_company(text, filing) and names_year(text, year):
            return Rewritten(text, "llm", reply.usage)
        ruled = await by_rules(question, filing, year)
        return Rewritten(ruled.text, "unusable reply", reply.usage)

    return rewrite


def names_company(question: str, filing: Filing) -> bool:
    """Whether the question has one of the company's names, or its ticker in capitals."""
    words = _WORD.findall(question.lower().replace("'s", "").replace("’s", ""))
    names = (company_name(filing), *(brand(tidy_name(alias)) for alias in filing.aliases))
    if any(_within(_WORD.findall(name.lower()), words) for name in names):
        return True
    return bool(filing.ticker and re.search(rf"\b{re.escape(filing.ticker)}\b", question))


def names_year(question: str, year: int) -> bool:
    return re.search(rf"(?<!\d)(?:{year}|FY\s?['’]?{year % 100:02d})(?!\d)", question, re.IGNORECASE) is not None


def _within(name: Sequence[str], words: Sequence[str]) -> bool:
    size = len(name)
    return bool(size) and any(list(words[at : at + size]) == list(name) for at in range(len(words) - size + 1))

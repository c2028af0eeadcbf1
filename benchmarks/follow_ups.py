"""How follow-up questions are completed by rules: five of them after each question of a file that names one company and
one fiscal year.

    python benchmarks/follow_ups.py --questions QUESTIONS.jsonl --index INDEX

A follow-up is right if the completed question reads as the company, year and metric meant, asked back if it is called
unclear, else wrong. Answers are not looked at.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from finray.batch.question_files import read_questions
from finray.core.bootstrap import estimate
from finray.core.query import Query
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog
from finray.question.follow_ups.conversation import RuleConversation
from finray.question.rule_reader import RuleReader

Meant = tuple[set[str], set[int], set[str]]
"""Companies, fiscal years, and metrics."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", required=True)
    parser.add_argument("--index", required=True)
    arguments = parser.parse_args()
    catalog = CompanyCatalog(IndexReader.open(arguments.index, load_settings("local")).filings())
    rules = RuleReader(catalog)
    conversation = RuleConversation(rules)
    outcomes: Counter[str] = Counter()
    right: list[float] = []
    asked = [line for line in read_questions(arguments.questions) if isinstance(line, Question)]
    used = 0
    for question in asked:
        query = rules.understand(question.question, question.question)
        if len(query.companies) != 1 or len(query.periods) != 1 or query.periods[0].part not in (None, "FY"):
            continue
        if query.periods[0].date is not None or not query.metrics:
            continue
        used += 1
        other = "pepsico" if query.companies[0] != "pepsico" else "walmart"
        for text, meant in follow_ups(query, rules, other):
            found = conversation.resolved(text, [question.question])
            if found.unclear:
                outcomes["asked back"] += 1
                continue
            read = rules.understand(found.question, found.question)
            agrees = _agrees(read, meant)
            outcomes["right" if agrees else "wrong"] += 1
            right.append(float(agrees))
            if not agrees:
                print(f"wrong: {question.question!r} then {text!r} -> {found.question!r}")
    share = estimate(right)
    print(f"{used} of {len(asked)} questions, {sum(outcomes.values())} follow-ups: {dict(outcomes)}")
    print(f"right if completed: {share.value:.3f} [{share.low:.3f}, {share.high:.3f}] n {share.n}")


def follow_ups(query: Query, rules: RuleReader, other: str) -> Iterator[tuple[str, Meant]]:
    """The follow-ups and what they mean after ``query``."""
    company, year, metrics = set(query.companies), query.periods[0].year, set(query.metrics)
    named = set(rules.understand(f"{other}'s revenue", f"{other}'s revenue").companies)
    yield f"and in {year - 1}?", (company, {year - 1}, metrics)
    yield f"what about {other.title()}?", (named, {year}, metrics)
    yield "the year before?", (company, {year - 1}, metrics)
    yield "and net income?", (company, {year}, {"net_income"})
    yield f"what was its gross profit in {year + 1}?", (company, {year + 1}, {"gross_profit"})


def _agrees(read: Query, meant: Meant) -> bool:
    companies, years, metrics = meant
    same = set(read.companies) == companies and {period.year for period in read.periods} == years
    return same and set(read.metrics) == metrics


if __name__ == "__main__":
    main()

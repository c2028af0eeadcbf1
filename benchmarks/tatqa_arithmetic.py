"""Accuracy on TAT-QA's numeric questions (arXiv 2105.07624) with the table and its paragraphs given.

    python benchmarks/tatqa_arithmetic.py DATASET.json [--out ANSWERS.jsonl] [--types arithmetic span]

The table and the paragraphs around it become one HTML page, which is processed like that of a filing: grid, line items,
then plan, look-up and program of the ``local`` preset. There is no retrieval, company or cover; the filing's year is
the latest in the context. TAT-QA's rule decides whether an answer is right: the value rounded to two digits, and the
scale; "any scale" ignores the scale. Asks arithmetic questions and those whose answer is one printed number ("span"),
but not counts, names or years.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from finray.answering.plans.planned import PlannedAnswerer
from finray.answering.sentences.in_words import WordsAnswerer
from finray.answering.sentences.read import SentenceFinder
from finray.answering.statements import StatementAnswerer
from finray.batch.question_files import BadLine
from finray.core.bootstrap import estimate
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.roles import Curation
from finray.lab.datasets.tatqa import TatqaQuestion, read_contexts
from finray.lab.datasets.tatqa_page import YEAR, view
from finray.models.hash_encoder import HashEncoder
from finray.question.rule_reader import RuleReader

SCALES = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "percent": 0.01}
_NUMBER = re.compile(r"\(?-?\$?\s*\(?-?(\d[\d,]*\.?\d*|\.\d+)\)?\s*%?\)?")


@dataclass(frozen=True, slots=True)
class Outcome:
    question: TatqaQuestion
    answer: Answer
    right: bool
    right_at_any_scale: bool

    @property
    def refused(self) -> bool:
        return self.answer.status != "answered"

    @property
    def wrong(self) -> bool:
        return not self.refused and not self.right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--out", type=Path, help="every question with its answer, .jsonl")
    parser.add_argument("--types", nargs="+", default=["arithmetic", "span"])
    arguments = parser.parse_args()
    outcomes = list(measure(arguments.dataset, arguments.types))
    report(outcomes)
    if arguments.out:
        arguments.out.write_text("".join(f"{json.dumps(_record(each))}\n" for each in outcomes), encoding="utf-8")


def measure(path: Path, types: Collection[str]) -> Iterator[Outcome]:
    for number, context in enumerate(read_contexts(path.read_bytes(), path.name)):
        if isinstance(context, BadLine):
            print(f"{context.qid}: {context.reason}", file=sys.stderr)
            continue
        asked = [q for q in context.questions if q.answer_type in types and gold_value(q) is not None]
        if not asked:
            continue
        if number % 40 == 0:
            print(f"context {number}", file=sys.stderr, flush=True)
        facts, catalog, filing = view(context)
        answerer = PlannedAnswerer(
            StatementAnswerer(facts, WordsAnswerer(facts, SentenceFinder(facts, HashEncoder()))), facts
        )
        reader = RuleReader(catalog)
        passages = facts.passages_of(filing.filing_id, 0)
        for question in asked:
            answer = asyncio.run(_answer(question, answerer, reader, passages))
            yield Outcome(question, answer, *score(question, answer))


async def _answer(
    question: TatqaQuestion, answerer: PlannedAnswerer, reader: RuleReader, passages: Sequence[Passage]
) -> Answer:
    journal = Journal()
    query = await reader.read(question.question, journal)
    # The table is given, so any company in the question is that of the table.
    query = replace(query, unknown_companies=(), forms=())
    return await answerer.answer(query, Curation(tuple(passages), answerable=True), journal)


def gold_value(question: TatqaQuestion) -> float | None:
    """The answer as a number in its scale; None if it is a name, a year or a sentence."""
    if question.value is not None:
        return question.value
    (text, *others) = question.answer
    match = _NUMBER.fullmatch(text.strip())
    if others or match is None or YEAR.fullmatch(text.strip()):
        return None
    value = float(match.group(1).replace(",", ""))
    return -value if text.strip().startswith(("(", "-", "$(")) else value


def score(question: TatqaQuestion, answer: Answer) -> tuple[bool, bool]:
    """(right, right at any scale)."""
    gold = gold_value(question)
    if answer.status != "answered" or answer.value is None or gold is None:
        return False, False
    value = answer.value / 100 if answer.unit == "percent" else answer.value
    percent = question.scale == "percent" or "%" in question.answer[0]
    own = SCALES["percent"] if percent else SCALES[question.scale]
    at = {scale: round(value / scale, 2) == round(gold, 2) for scale in SCALES.values()}
    return at[own], any(at.values())


def report(outcomes: Sequence[Outcome]) -> None:
    groups = {"all": outcomes}
    for kind in dict.fromkeys(each.question.answer_type for each in outcomes):
        groups[kind] = [each for each in outcomes if each.question.answer_type == kind]
    for source in ("table", "table-text", "text"):
        groups[f"arithmetic, {source}"] = [
            e for e in outcomes if e.question.answer_type == "arithmetic" and e.question.answer_from == source
        ]
    print("| questions | n | right | right at any scale | refused | wrong | wrong at any scale |")
    print("|---|---|---|---|---|---|---|")
    for name, group in groups.items():
        columns = (
            [e.right for e in group],
            [e.right_at_any_scale for e in group],
            [e.refused for e in group],
            [e.wrong for e in group],
            [not e.refused and not e.right_at_any_scale for e in group],
        )
        shown = " | ".join(_interval(column) for column in columns) if group else ""
        print(f"| {name} | {len(group)} | {shown} |")


def _interval(column: Sequence[bool]) -> str:
    found = estimate([float(each) for each in column])
    return f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}]"


def _record(outcome: Outcome) -> dict[str, object]:
    question, answer = outcome.question, outcome.answer
    return {
        "uid": question.uid,
        "question": question.question,
        "gold": question.answer_text,
        "derivation": question.derivation,
        "type": question.answer_type,
        "from": question.answer_from,
        "status": answer.status,
        "answer": answer.text,
        "value": answer.value,
        "program": answer.program,
        "right": outcome.right,
        "any_scale": outcome.right_at_any_scale,
    }


if __name__ == "__main__":
    main()

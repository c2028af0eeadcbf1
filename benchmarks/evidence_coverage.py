"""How often the figures of the gold quotation are in the evidence: raw passages against rendered evidence.

    python benchmarks/evidence_coverage.py --index INDEX benchmarks/filing_questions/develop.jsonl

Counts the questions with a numeric answer whose gold pages were all retrieved at first. Tokens are characters / 4;
"as raw" gives each question the tokens of its own raw passages. Times are of rendering alone, caches as in a run.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median

from finray.batch.question_files import read_questions
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.questions import Question
from finray.core.settings import EvidenceSettings, load_settings
from finray.engine import Engine, open_engine
from finray.evidence.evidence import evidence_blocks
from finray.index.reading.facts import FilingFacts
from finray.question.companies.catalog import CompanyCatalog

_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
_CHARACTERS = 4


@dataclass
class Way:
    """What one way of showing evidence reached. ``missed`` are the ids of the questions without all gold figures."""

    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, qid: str, gold: frozenset[str], texts: Iterable[str], tokens: int, seconds: float = 0.0) -> None:
        self.tokens.append(tokens)
        self.seconds.append(seconds)
        if not gold <= _figures(texts):
            self.missed.append(qid)


def _figures(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(figure.strip(",") for text in texts for figure in _FIGURE.findall(text))


def _retrieved(question: Question, passages: Sequence[Passage]) -> bool:
    places = {(passage.doc_name, passage.page) for passage in passages}
    return all(gold.places & places for gold in question.evidence)


async def measure(engine: Engine, questions: Sequence[Question], budgets: Sequence[int]) -> Mapping[str, Way]:
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    ways = {"raw passages": Way(), "rendered, as raw": Way(), **{f"rendered, {budget:,}": Way() for budget in budgets}}
    for question in questions:
        gold = _figures(each.text or "" for each in question.evidence)
        if question.value is None or not gold:
            continue
        query, _, passages = await engine.retrieve(question.question)
        if not _retrieved(question, passages):
            continue
        raw = sum(len(passage.text) for passage in passages) // _CHARACTERS
        ways["raw passages"].add(question.qid, gold, (passage.text for passage in passages), raw)
        curation = await engine.roles.curator.curate(query, passages, Journal())
        for name, budget in (("rendered, as raw", raw), *((f"rendered, {budget:,}", budget) for budget in budgets)):
            settings = EvidenceSettings(max_tokens=max(budget, 200))
            started = time.perf_counter()
            evidence = evidence_blocks(query, passages, facts, settings, coverage=curation.coverage)
            seconds = time.perf_counter() - started
            tokens = sum(block.tokens for block in evidence)
            ways[name].add(question.qid, gold, (block.text for block in evidence), tokens, seconds)
    return ways


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions")
    parser.add_argument("--index", required=True)
    parser.add_argument("--preset", default="local")
    parser.add_argument("--tokens", type=int, nargs="*", default=[1_500, 2_500, 3_500, 5_000])
    parser.add_argument("--missed", action="store_true", help="list the ids of the questions without all gold figures")
    arguments = parser.parse_args()
    questions = [line for line in read_questions(arguments.questions) if isinstance(line, Question)]
    engine = open_engine(arguments.index, load_settings(arguments.preset))
    ways = asyncio.run(measure(engine, questions, arguments.tokens))
    print("| evidence | n | all gold figures | tokens, mean | rendering, median ms |\n|---|---:|---:|---:|---:|")
    for name, way in ways.items():
        n = len(way.tokens)
        share = 1 - len(way.missed) / max(n, 1)
        print(f"| {name} | {n} | {share:.3f} | {mean(way.tokens):,.0f} | {1000 * median(way.seconds):.1f} |")
        if arguments.missed:
            print(" ".join(way.missed))


if __name__ == "__main__":
    main()

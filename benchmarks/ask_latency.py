"""Latency of one question on an open index, in this process: p50 and p95 over a question file.

    python benchmarks/ask_latency.py --index INDEX QUESTIONS.jsonl [--rounds 3]

Opens the index and loads the encoder before the clock starts. The first round has cold caches; each round has its own
line. Questions are asked one after the other, as by a user at a terminal.
"""

from __future__ import annotations

import argparse
import asyncio

import numpy as np

from finray.batch.question_files import read_questions
from finray.core.garbage import collect_seldom
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.engine import open_engine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions")
    parser.add_argument("--index", required=True)
    parser.add_argument("--preset", default="local")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    collect_seldom()  # as finray's command line and its engines do
    questions = [line for line in read_questions(arguments.questions) if isinstance(line, Question)]
    engine = open_engine(arguments.index, load_settings(arguments.preset))
    print("round     n   p50 ms   p95 ms   max ms")
    for number in range(1, arguments.rounds + 1):
        seconds = [asyncio.run(engine.answer(question)).seconds for question in questions]
        p50, p95, most = (1000 * float(q) for q in np.quantile(seconds, (0.5, 0.95, 1.0)))
        print(f"{number:5} {len(seconds):5} {p50:8.1f} {p95:8.1f} {most:8.1f}")


if __name__ == "__main__":
    main()

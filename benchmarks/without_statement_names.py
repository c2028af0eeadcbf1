"""Write a copy of a question file with "the filing" in place of every name of a primary statement.

    python benchmarks/without_statement_names.py QUESTIONS.jsonl OUT.jsonl

Benchmark questions often name the statement with the answer ("according to the cash flow statement"), which people
seldom do. The changed questions measure retrieval without that hint.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from finray.batch.question_files import BadLine, read_questions, write_questions
from finray.question.wording import STATEMENT_WORDS


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    changed, kept = 0, []
    for question in read_questions(sys.argv[1]):
        if isinstance(question, BadLine):
            raise SystemExit(f"line {question.line}: {question.reason}")
        text = question.question
        for _, pattern in STATEMENT_WORDS:
            text = pattern.sub("filing", text)
        changed += text != question.question
        kept.append(replace(question, question=text))
    write_questions(sys.argv[2], kept)
    print(f"{changed} of {len(kept)} questions named a statement")


if __name__ == "__main__":
    main()

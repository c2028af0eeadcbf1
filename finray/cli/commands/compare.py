"""``finray compare``: several retrieval methods on one question set, in this process."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from rich.console import Console

from finray.batch.prediction_store import PredictionStore, read_predictions
from finray.batch.question_files import read_questions
from finray.cli.commands.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.settings import load_settings
from finray.core.types import Question
from finray.lab.comparison import answer_with_each, contenders
from finray.lab.evaluation.comparison import comparison_data, comparison_markdown, comparison_tables
from finray.lab.evaluation.evaluate import Evaluation, evaluate
from finray.storage.locations import join


def run_compare(
    methods: Sequence[str],
    questions: str,
    index: str,
    *,
    preset: str,
    overrides: Mapping[str, Any],
    folder: str | None,
    retrieval_only: bool,
    as_json: bool,
    markdown: bool,
    out: Console,
    err: Console,
) -> int:
    """Print the table. 1 where a question ended in an error.

    With ``folder`` each method's predictions are kept in ``folder``/<method>.jsonl, and a second run asks only what
    they lack.
    """
    compared = contenders(methods, preset, overrides, retrieval_only=retrieval_only)
    limit = load_settings(preset, overrides).bulk.max_question_characters
    lines = list(read_questions(questions, max_characters=limit))
    asked = [line for line in lines if isinstance(line, Question)]
    if not asked:
        raise UsageError(f"{questions!r} holds no question that can be scored")
    if retrieval_only:
        err.print("retrieval only: no curation, no answers (--answers runs the whole loop)", highlight=False)
    evaluations: dict[str, Evaluation] = {}
    with ExitStack() as stack:
        target = folder or stack.enter_context(tempfile.TemporaryDirectory())
        where = {contender.label: join(target, f"{_file_name(contender.label)}.jsonl") for contender in compared}
        stores = {label: stack.enter_context(PredictionStore(uri)) for label, uri in where.items()}
        report = stack.enter_context(progress_bar(err, "comparing"))
        place = {contender.label: number for number, contender in enumerate(compared)}

        def progress(label: str, done: int, total: int) -> None:
            report(place[label] * len(lines) + len(lines) - total + done, len(compared) * len(lines))

        asyncio.run(answer_with_each(lines, index, stores, compared, progress=progress))
        for contender in compared:
            file = read_predictions(where[contender.label])
            evaluations[contender.label] = evaluate(file.predictions, asked, remarks=file.remarks)
    if as_json:
        sys.stdout.write(json.dumps(comparison_data(evaluations, retrieval_only=retrieval_only)) + "\n")
    elif markdown:
        sys.stdout.write(comparison_markdown(evaluations, retrieval_only=retrieval_only))
    else:
        out.print(comparison_tables(evaluations, retrieval_only=retrieval_only))
    return 1 if any(evaluation.statuses.get("error") for evaluation in evaluations.values()) else 0


def _file_name(label: str) -> str:
    """``rrf:methods.rrf.constant=10`` as the name of a file."""
    return re.sub(r"[^\w.=,-]+", "_", label.replace(":", "__", 1))

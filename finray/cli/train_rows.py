"""``finray train row-reader``: the small model that reads a question beside rows of tables and sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from finray.cli.fitting import listed
from finray.cli.options import JsonOption
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar


def row_reader(
    questions: Annotated[list[Path], typer.Argument(help="Questions with their cells or sentences, .jsonl.")],
    index: Annotated[str, typer.Option("--index", help="Index of their filings.")],
    out: Annotated[Path, typer.Option("--out", help="File to write the weights to.")] = Path("row_reader.npz"),
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the questions.")] = 2,
    minutes: Annotated[float, typer.Option(min=0.01, help="Training ends early after so long.")] = 120.0,
    held_out: Annotated[list[str] | None, typer.Option(help="Companies (keys) to measure on instead.")] = None,
    json_: JsonOption = False,
) -> int:
    """Fine-tune the model that finds the rows and the operation of a question (loop.tables).

    Some 40 minutes for 7,000 questions on two processors that compute in bfloat16.
    """
    import numpy as np

    from finray.core.bootstrap import estimate
    from finray.index.facts import FilingFacts
    from finray.index.reader import IndexReader
    from finray.lab.evaluation.report import shown
    from finray.lab.training.row_examples import examples, read_lines
    from finray.lab.training.row_reader import RowReaderOptions, fine_tune, operand_recall
    from finray.models.row_reader import RowReader, quantized
    from finray.question.companies import CompanyCatalog
    from finray.storage.atomic import replacing

    reader = IndexReader.open(index)
    catalog = CompanyCatalog(reader.filings())
    lines = [line for path in questions for line in read_lines(path)]
    given = []
    with progress_bar(err, "reading questions") as progress:
        for example in examples(lines, FilingFacts(reader, catalog), catalog):
            given.append(example)
            progress(len(given), len(lines))
    tests = [example for example in given if example.group in (held_out or ())]
    known = [example for example in given if example.group not in (held_out or ())]
    options = RowReaderOptions(epochs=epochs, seconds=60 * minutes)
    state = fine_tune(known, options, lambda line: err.print(line))
    with replacing(out) as unfinished, unfinished.open("wb") as file:
        np.savez_compressed(file, **quantized(state))  # type: ignore[arg-type]
    record: dict[str, object] = {"questions": len(known), "of": len(lines)}
    if tests:
        recall = operand_recall(RowReader(state), tests, options.rows * 2)
        record["first operand, held out"] = shown(estimate(recall)) if recall else "none"
    emit({"model": str(out), **record}, f"{listed(record)}", f"wrote {out}", as_json=json_)
    return 0

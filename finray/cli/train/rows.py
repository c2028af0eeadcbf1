"""``finray train row-reader``: the small model that reads a question beside rows of tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zipfile import BadZipFile

import typer

from finray.cli.options import JsonOption
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.cli.train.fitting import listed
from finray.core.errors import UsageError

if TYPE_CHECKING:
    import numpy.typing as npt


def row_reader(
    questions: Annotated[list[Path], typer.Argument(help="Questions with their cells or sentences, .jsonl.")],
    index: Annotated[str, typer.Option("--index", help="Index of their filings.")],
    tatqa: Annotated[
        list[Path] | None,
        typer.Option("--tatqa", help="A file of TAT-QA: its questions, and those about its contexts. May be repeated."),
    ] = None,
    start: Annotated[str, typer.Option("--from", help="Weights to go on from: a file, or 'shipped'.")] = "",
    out: Annotated[Path, typer.Option("--out", help="File to write the weights to.")] = Path("row_reader.npz"),
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the questions.")] = 2,
    minutes: Annotated[float, typer.Option(min=0.01, help="Training ends early after so long.")] = 120.0,
    held_out: Annotated[list[str] | None, typer.Option(help="Companies (keys) to measure on instead.")] = None,
    json_: JsonOption = False,
) -> int:
    """Fine-tune the model that finds the rows and the operation of a question (loop.tables).

    It learns 7 to 9 questions a second on two processors that compute in bfloat16, some 3 on others, and takes a GPU if
    there is one.
    Questions about a context of TAT-QA are left out without --tatqa.
    """
    import numpy as np

    from finray.core.bootstrap import estimate
    from finray.index.reading.facts import FilingFacts
    from finray.index.reading.reader import IndexReader
    from finray.lab.evaluation.report import shown
    from finray.lab.training.readers.row_examples import examples, read_lines
    from finray.lab.training.readers.row_reader import RowReaderOptions, fine_tune, operand_recall
    from finray.lab.training.readers.tatqa_rows import tatqa_examples
    from finray.models.bert.weights import quantized
    from finray.models.row_reader import RowReader
    from finray.question.companies.catalog import CompanyCatalog
    from finray.storage.atomic import replacing

    before = _weights(start) if start else None
    reader = IndexReader.open(index)
    catalog = CompanyCatalog(reader.filings())
    lines = [line for path in questions for line in read_lines(path)]
    given = []
    with progress_bar(err, "reading questions") as progress:
        made = chain(examples(lines, FilingFacts(reader, catalog), catalog), tatqa_examples(tatqa or [], lines))
        for example in made:
            given.append(example)
            progress(len(given), max(len(lines), len(given)))
    tests = [example for example in given if example.group in (held_out or ())]
    known = [example for example in given if example.group not in (held_out or ())]
    options = RowReaderOptions(epochs=epochs, seconds=60 * minutes)
    state = fine_tune(known, options, lambda line: err.print(line), before)
    with replacing(out) as unfinished, unfinished.open("wb") as file:
        np.savez_compressed(file, **quantized(state))  # type: ignore[arg-type]
    record: dict[str, object] = {"questions": len(known)}
    if tests:
        recall = operand_recall(RowReader(state), tests, options.rows * 2)
        record["first operand, held out"] = shown(estimate(recall)) if recall else "none"
    emit({"model": str(out), **record}, f"{listed(record)}", f"wrote {out}", as_json=json_)
    return 0


def _weights(name: str) -> Mapping[str, npt.NDArray[Any]]:
    """Raises UsageError."""
    from finray.models import row_reader, sentence_reader
    from finray.models.bert.weights import read_weights, shipped_weights

    if name == "shipped":
        return {**shipped_weights(sentence_reader.WEIGHTS), **shipped_weights(row_reader.WEIGHTS)}
    try:
        return read_weights(BytesIO(Path(name).read_bytes()))
    except (OSError, ValueError, BadZipFile, AttributeError) as error:
        raise UsageError(f"{name} has no weights of the row reader: {error}") from error

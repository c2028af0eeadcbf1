"""``finray train reader``: the tagger of the words that a question measures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from finray.cli.options import JsonOption
from finray.cli.output import emit


def reader(
    questions: Annotated[Path, typer.Argument(help="Questions whose measured words are marked, .jsonl.")],
    index: Annotated[str, typer.Option("--index", help="Index of their filings: its companies are recognized.")],
    out: Annotated[Path, typer.Option("--out", help="File to write the weights to.")] = Path("measure_tagger.npz"),
    json_: JsonOption = False,
) -> int:
    """Fit the small network that finds the words of a question that name a figure (transform = "trained").

    The score is the F1 of these words, each set of questions read by a network that was fitted to the others.
    """
    from finray.core.bootstrap import estimate
    from finray.index.reading.reader import IndexReader
    from finray.lab.training.group_folds import folds_by_group
    from finray.lab.training.question.measure_tagger import (
        fit_tagger,
        marked_questions,
        operation_accuracy,
        save_tagger,
        tagged,
        word_f1,
    )
    from finray.models.token_states import minilm_tokens
    from finray.question.companies.catalog import CompanyCatalog
    from finray.question.rule_reader import RuleReader
    from finray.question.trained_reader import marks

    marked = marked_questions(questions)
    rules = RuleReader(CompanyCatalog(IndexReader.open(index).filings()))
    read = tagged(marked, minilm_tokens(), lambda text: marks(text, rules))
    sources = sorted({each.marked.source for each in read})
    table = Table("set", "questions", "word F1", "95% interval", "operation right", title="fitted to the other sets")
    record: dict[str, object] = {"questions": len(read)}
    for rest, own in folds_by_group([each.marked.source for each in read], len(sources)) if len(sources) > 1 else []:
        held_out, weights = [read[at] for at in own], fit_tagger([read[at] for at in rest])
        scores, right = word_f1(weights, held_out), estimate(operation_accuracy(weights, held_out))
        f1, source = estimate(scores), read[own[0]].marked.source
        table.add_row(source, str(f1.n), f"{f1.value:.3f}", f"[{f1.low:.3f}, {f1.high:.3f}]", f"{right.value:.3f}")
        record[source] = {"n": f1.n, "word_f1": f1.value, "interval": [f1.low, f1.high], "operation": right.value}
    save_tagger(fit_tagger(read), out)
    emit(record, table, f"wrote {out}", as_json=json_)
    return 0

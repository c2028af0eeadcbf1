"""``finray train reader`` and ``metric-recognizer``: what a question measures, by its words."""

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


def metric_recognizer(
    wordings: Annotated[Path, typer.Argument(help="People's wordings of metrics, .jsonl.")],
    index: Annotated[str, typer.Option("--index", help="Index of the other questions' filings.")],
    others: Annotated[
        list[Path] | None, typer.Option("--others", help="Questions about other figures, .jsonl.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="File to write the weights to.")] = Path("metric_recognizer.npz"),
    json_: JsonOption = False,
) -> int:
    """Fit the small network that recognizes a metric in other words than its usual names (transform = "trained").

    The threshold and the figures are of networks that were fitted without the wordings of a writer, or the questions
    about a company.
    """
    from finray.core.bootstrap import estimate
    from finray.index.reading.reader import IndexReader
    from finray.lab.evaluation.report import shown
    from finray.lab.training.question.metric_examples import framed, of_other_figures, read_wordings, vocabulary
    from finray.lab.training.question.metric_recognizer import (
        fit_recognizer,
        held_out,
        metrics_of,
        read,
        save_recognizer,
        shares,
        threshold,
        with_threshold,
    )
    from finray.lab.training.readers.row_examples import read_lines
    from finray.models.token_states import minilm_tokens
    from finray.question.companies.catalog import CompanyCatalog
    from finray.question.rule_reader import RuleReader
    from finray.question.trained_reader import marks

    known = [*read_wordings(wordings), *vocabulary()]
    examples = [
        *framed(known),
        *of_other_figures(line for path in others or () for line in read_lines(path)),
    ]
    rules = RuleReader(CompanyCatalog(IndexReader.open(index).filings()))
    given = list(read(examples, minilm_tokens(), lambda text: marks(text, rules)))
    metrics = metrics_of(known)
    said = held_out(given, metrics)
    least = threshold(said)
    table = Table(
        "questions", "n", "the right metric", "another one", title=f"held out, from a probability of {least:.2f}"
    )
    record: dict[str, object] = {"questions": len(given), "metrics": len(metrics) - 1, "threshold": least}
    for kind, scores in shares(said, least).items():
        right, wrong = (estimate(each) for each in scores)
        table.add_row(kind, str(right.n), shown(right), shown(wrong))
        record[kind] = {"n": right.n, "right": right.value, "wrong": wrong.value}
    save_recognizer(with_threshold(fit_recognizer(given, metrics), least), out)
    emit(record, table, f"wrote {out}", as_json=json_)
    return 0

"""``finray train reader`` and ``metric-recognizer``: what a question measures, by its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from finray.cli.options import JsonOption
from finray.cli.output import emit

Others = Annotated[
    list[Path] | None,
    typer.Option("--others", help="Questions of benchmarks/table_questions about other rows, .jsonl."),
]


def reader(
    questions: Annotated[Path, typer.Argument(help="Questions whose measured words are marked, .jsonl.")],
    index: Annotated[str, typer.Option("--index", help="Index of their filings: its companies are recognized.")],
    wordings: Annotated[
        Path | None,
        typer.Option("--wordings", help="People's wordings of metrics, .jsonl: questions are framed of them."),
    ] = None,
    others: Others = None,
    framed: Annotated[int, typer.Option(help="How many questions are framed.")] = 6000,
    out: Annotated[Path, typer.Option("--out", help="File to write the weights to.")] = Path("measure_tagger.npz"),
    json_: JsonOption = False,
) -> int:
    """Fit the small network that finds the words of a question that name a figure (transform = "trained").

    The score is the F1 of these words, each set of questions read by a network that was fitted to the others.
    """
    from finray.core.bootstrap import estimate
    from finray.index.reading.reader import IndexReader
    from finray.lab.training.group_folds import folds_by_group
    from finray.lab.training.question.measure_examples import framed_questions, phrases_of
    from finray.lab.training.question.measure_tagger import (
        fit_tagger,
        marked_questions,
        operation_accuracy,
        save_tagger,
        tagged,
        word_f1,
    )
    from finray.lab.training.question.metric_examples import read_wordings
    from finray.models.token_states import minilm_tokens
    from finray.question.companies.catalog import CompanyCatalog
    from finray.question.rule_reader import RuleReader
    from finray.question.trained_reader import marks

    marked = marked_questions(questions)
    known = phrases_of(read_wordings(wordings), _lines(others)) if wordings is not None else []
    made = list(framed_questions(known, framed)) if known else []
    rules = RuleReader(CompanyCatalog(IndexReader.open(index).filings()))
    read, more = (tagged(some, minilm_tokens(), lambda text: marks(text, rules)) for some in (marked, made))
    sources = sorted({each.marked.source for each in read})
    table = Table("set", "questions", "word F1", "95% interval", "operation right", title="fitted to the other sets")
    record: dict[str, object] = {"questions": len(read), "framed": len(more)}
    for rest, own in folds_by_group(read, lambda each: each.marked.source, len(sources)) if len(sources) > 1 else []:
        weights = fit_tagger(rest, more)
        f1, right = estimate(word_f1(weights, own)), estimate(operation_accuracy(weights, own))
        source = own[0].marked.source
        table.add_row(source, str(f1.n), f"{f1.value:.3f}", f"[{f1.low:.3f}, {f1.high:.3f}]", f"{right.value:.3f}")
        record[source] = {"n": f1.n, "word_f1": f1.value, "interval": [f1.low, f1.high], "operation": right.value}
    save_tagger(fit_tagger(read, more), out)
    emit(record, table, f"wrote {out}", as_json=json_)
    return 0


def metric_recognizer(
    wordings: Annotated[Path, typer.Argument(help="People's wordings of metrics, .jsonl.")],
    others: Others = None,
    out: Annotated[Path, typer.Option("--out", help="File to write the weights to.")] = Path("metric_recognizer.npz"),
    json_: JsonOption = False,
) -> int:
    """Fit the small network that recognizes a metric in other words than its usual names (transform = "trained").

    The threshold and the figures are of networks that were fitted without the wordings of a writer, or the questions
    about a filing.
    """
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.question.metric_examples import (
        narrowed,
        of_other_figures,
        parts_of,
        phrases,
        read_wordings,
        vocabulary,
    )
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
    from finray.models.token_states import minilm_tokens
    from finray.question.measures.measure_tagger import MeasureTagger

    tokens, lines = minilm_tokens(), _lines(others)
    known = [*read_wordings(wordings), *vocabulary()]
    parts = parts_of(lines)
    examples = [
        *phrases(known),
        *(narrowed(known, parts) if parts else ()),
        *of_other_figures(lines, tokens, MeasureTagger()),
    ]
    given = list(read(examples, tokens))
    metrics = metrics_of(known)
    said = held_out(given, metrics)
    least = threshold(said)
    table = Table(
        "phrases", "n", "the right metric", "another one", title=f"held out, from a probability of {least:.2f}"
    )
    record: dict[str, object] = {"phrases": len(given), "metrics": len(metrics) - 1, "threshold": least}
    for kind, scores in shares(said, least).items():
        right, wrong = (estimate(each) for each in scores)
        table.add_row(kind, str(right.n), shown(right), shown(wrong))
        record[kind] = {"n": right.n, "right": right.value, "wrong": wrong.value}
    save_recognizer(with_threshold(fit_recognizer(given, metrics), least), out)
    emit(record, table, f"wrote {out}", as_json=json_)
    return 0


def _lines(paths: Sequence[Path] | None) -> list[Mapping[str, Any]]:
    from finray.lab.training.readers.row_examples import read_lines

    return [line for path in paths or () for line in read_lines(path)]

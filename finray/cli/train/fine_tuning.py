"""``finray train page-scorer``, ``reranker`` and ``gain``: fine-tune models that rank text, and measure their gain."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finray.cli.options import JsonOption
from finray.cli.output import emit, err
from finray.cli.output import out as stdout
from finray.cli.progress import progress_bar
from finray.cli.train.fitting import Indexes, Questions
from finray.core.errors import UsageError
from finray.core.settings import load_settings
from finray.lab.training.fine_tuning.options import (
    PAGE_SCORER,
    RECIPES,
    RERANKER,
    Hyperparameters,
    Machine,
    NegativeKind,
    Precision,
)

if TYPE_CHECKING:
    from finray.lab.evaluation.text_tables import TextTable
    from finray.lab.training.fine_tuning.corpus import Corpus
    from finray.lab.training.fine_tuning.runs import Kind, Reports
    from finray.lab.training.fine_tuning.trainer import Report

Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Threads = Annotated[int, typer.Option(min=0, help="CPU threads; 0: PyTorch's default.")]
Candidates = Annotated[int, typer.Option(min=1, help="Similar texts to rank for each held-out question.")]

_OPTIONS: dict[str, Any] = {
    "recipe": None,  # see _recipe_option
    "out": Annotated[str, typer.Option("--out", help="Local folder for the model; resumes.")],
    "questions": Questions,
    "index": Indexes,
    "tatqa": Annotated[list[str] | None, typer.Option("--tatqa", help="A file of TAT-QA. May be repeated.")],
    "base": Annotated[str, typer.Option(help="Base model: minilm, a folder or a hub name.")],
    "revision": Annotated[str, typer.Option(help="Revision of a hub model: a commit, branch or tag.")],
    "learning_rate": Annotated[float, typer.Option(min=0.0)],
    "warmup": Annotated[
        float, typer.Option(min=0.0, max=0.99, help="Share of the steps over which the learning rate rises.")
    ],
    "epochs": Annotated[float, typer.Option(min=0.0)],
    "max_steps": Annotated[int, typer.Option(min=0, help="Most steps; 0: all epochs.")],
    "batch_size": Annotated[int, typer.Option(min=1, help="Rows per step and device.")],
    "accumulate": Annotated[int, typer.Option(min=1, help="Batches whose gradients are summed for one step.")],
    "max_tokens": Annotated[int, typer.Option(min=8, help="Longer texts are cut; at most the base model's limit.")],
    "negatives": Annotated[
        int, typer.Option(min=0, help="Negatives for each question; 0: only other pages of the batch.")
    ],
    "hard": Annotated[
        int, typer.Option(min=0, help="How many negatives share the most words with the question; the rest is random.")
    ],
    "negative_kind": Annotated[NegativeKind, typer.Option(help="Negatives: tables, half tables, or any text.")],
    "page_characters": Annotated[
        int, typer.Option(min=0, help="Collapse white space and cut pages to this length; 0: pages as they are.")
    ],
    "gold_tables": Annotated[
        bool,
        typer.Option(
            help="Each table of a gold page is right, with negatives of its own; else its most similar chunk."
        ),
    ],
    "titles": Annotated[bool, typer.Option(help="Put company, form and period before each chunk.")],
    "query_prefix": Annotated[str, typer.Option(help="Prefix of questions, from the base model's card.")],
    "passage_prefix": Annotated[str, typer.Option(help="Prefix of texts, from the base model's card.")],
    "seed": Annotated[int, typer.Option()],
    "hold_out": Annotated[
        float, typer.Option(min=0.0, max=0.5, help="Share of the questions, by whole filings, to test on instead.")
    ],
    "folds": Annotated[
        int,
        typer.Option(min=0, help="Models to train, each without one fold of filings; their tests are pooled."),
    ],
    "candidates": Candidates,
    "most": Annotated[int, typer.Option(min=1, help="Most held-out questions to test of each source.")],
    "checkpoint_steps": Annotated[int, typer.Option(min=1, help="Steps between checkpoints.")],
    "device": Device,
    "precision": Annotated[Precision, typer.Option(help="Arithmetic; auto: bf16 if the hardware is fast at it.")],
    "threads": Threads,
    "dry_run": Annotated[bool, typer.Option("--dry-run", help="Read and count the data without training.")],
    "json_": JsonOption,
}
"""Options of both fine-tuning commands, in the order of ``--help``, named as fields of Hyperparameters and Machine."""
_DEFAULTS: dict[str, Any] = {
    "recipe": "", "questions": None, "index": None, "tatqa": None, "hold_out": 0.1, "folds": 0, "most": 200,
    "dry_run": False, "json_": False,
}  # fmt: skip


def _recipe_option(command: str) -> Any:
    """An option whose value replaces the defaults of the options that are not given."""

    def use(context: typer.Context, name: str) -> str:
        if name:
            if name not in RECIPES[command]:
                known = ", ".join(RECIPES[command]) or "none"
                raise UsageError(f"no recipe {name!r} for {command}; there is: {known}")
            context.default_map = {**(context.default_map or {}), **RECIPES[command][name]}
        return name

    return Annotated[
        str, typer.Option(is_eager=True, callback=use, help="A published recipe, instead of finray's own.")
    ]


def _takes(
    command: str, published: Hyperparameters, *, candidates: int, without: Collection[str] = ()
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A decorator that gives a command ``_OPTIONS`` except ``without``, with the defaults of ``published``."""
    defaults = asdict(published) | asdict(Machine()) | _DEFAULTS | {"candidates": candidates}
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(name, inspect.Parameter.empty),
            annotation=annotation or _recipe_option(command),
        )
        for name, annotation in _OPTIONS.items()
        if name not in without
    ]

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return function

    return decorate


@_takes("page-scorer", PAGE_SCORER, candidates=50, without={"gold_tables", "titles"})
def page_scorer(**given: Any) -> int:
    """Fine-tune a bi-encoder that finds the page: multiple negatives ranking loss with hard negatives of the filing.

    ``--recipe page-scorer`` is that of arXiv 2602.17981: BGE-M3, in-batch negatives only, five folds by document.
    """
    return _fine_tune("page-scorer", **given)


@_takes("reranker", RERANKER, candidates=20, without={"query_prefix", "passage_prefix", "page_characters"})
def reranker(**given: Any) -> int:
    """Fine-tune a cross-encoder of question and passage: binary cross-entropy, tables of other pages as negatives.

    ``--recipe hirec`` is that of arXiv 2505.20368: DeBERTa-v3, the tables of each gold page, 8 negatives for each.
    """
    return _fine_tune("reranker", **given)


def gain(
    models: Annotated[str, typer.Argument(help="The folder of a trained model, or of folds.")],
    questions: Annotated[str, typer.Option("--questions", help="Questions with evidence, .jsonl or .parquet.")],
    index: Annotated[str, typer.Option("--index", help="Index location: a folder or s3:// URI.")],
    preset: Annotated[str, typer.Option("--preset", help="The pipeline: local, hirec, or a file ending in .toml.")] = (
        "local"
    ),
    candidates: Annotated[int, typer.Option(min=1, help="Pages of the pipeline that the model reranks.")] = 20,
    device: Device = "auto",
    threads: Threads = 0,
    json_: JsonOption = False,
) -> int:
    """Measure the gain of a trained model over the pipeline: page recall of the first pages, in three orders."""
    from finray.engine import open_engine
    from finray.lab.training.fine_tuning.gain import measure_gain
    from finray.lab.training.fine_tuning.inputs import training_questions

    engine = open_engine(index, load_settings(preset))
    machine = Machine(device=device, threads=threads)
    with progress_bar(err, "reranking") as report:
        result = measure_gain(engine, training_questions(questions), Path(models), candidates, machine, report)
    emit(result, _gain_table(result), as_json=json_)
    return 0


def _fine_tune(
    kind: Kind,
    *,
    out: str,
    questions: list[str] | None,
    index: list[str] | None,
    tatqa: list[str] | None,
    hold_out: float,
    folds: int,
    candidates: int,
    most: int,
    dry_run: bool,
    json_: bool,
    recipe: str,
    **chosen: Any,
) -> int:
    """Read the data, train, print the held-out figures. ``chosen`` are fields of Hyperparameters and Machine."""
    from finray.lab.training.fine_tuning.inputs import load_corpus
    from finray.lab.training.fine_tuning.runs import Run, train_folds, train_model
    from finray.lab.training.fine_tuning.trainer import is_main_process
    from finray.storage.locations import is_s3

    if is_s3(out):
        raise UsageError(f"--out {out!r}: use a local folder; copy the model to S3 afterwards")
    questions, tatqa = questions or [], tatqa or []
    machine = Machine(**{field.name: chosen.pop(field.name) for field in fields(Machine)})
    units = {name: bool(chosen.get(name)) for name in ("gold_tables", "titles")}
    corpus = load_corpus(kind, questions, index or [], tatqa, **units)
    if kind == "reranker" and not chosen["negatives"]:
        raise UsageError("--negatives 0: a cross-encoder learns from right and wrong passages; give at least 1")
    run = Run(kind, corpus, Hyperparameters(**chosen), machine, (*questions, *tatqa), candidates, most)
    if is_main_process():
        console = err if json_ else stdout
        named = f"recipe {recipe}: {run.options.base}, {folds} folds\n" if recipe else ""
        console.print(named + _described(corpus), highlight=False, markup=False, soft_wrap=True)
    if dry_run:
        return 0
    with _reports() as reports:
        if folds:
            result = train_folds(run, Path(out), folds, reports)
            by_source = result["held_out"]
        else:
            result = train_model(run, Path(out), hold_out, reports)
            by_source = result["held_out"]["by_source"] if result else {}
    if is_main_process():
        tables = [_held_out_table(source, figures) for source, figures in by_source.items()]
        emit(result, *tables, f"{'folds' if folds else 'model'} in {out}", as_json=json_)
    return 0


@contextmanager
def _reports() -> Iterator[Reports]:
    """A function that starts a progress report and ends the previous one."""
    with ExitStack() as current:

        def named(what: str) -> Report:
            current.close()
            return current.enter_context(progress_bar(err, what))

        yield named


def _described(corpus: Corpus) -> str:
    parts = []
    for source in sorted({question.source for question in corpus.questions}):
        own = [question for question in corpus.questions if question.source == source]
        documents = {document for question in own for document in question.documents}
        parts.append(f"{source}: {len(own):,} questions on {len(documents):,} documents")
    reasons = Counter(left.reason for left in corpus.left_out)
    parts += [f"skipped: {count:,}, {reason}" for reason, count in sorted(reasons.items())]
    return "\n".join(parts)


def _held_out_table(source: str, figures: Mapping[str, Any]) -> TextTable:
    from finray.lab.evaluation.text_tables import TextTable

    metrics = list(next(iter(figures["figures"].values())))
    rows = [(name, *(_interval(values[metric]) for metric in metrics)) for name, values in figures["figures"].items()]
    rows += [
        (f"trained - {name}", *(_interval(values[metric], "+") for metric in metrics))
        for name, values in figures["trained_minus"].items()
    ]
    return TextTable(f"{source}, n = {figures['n']}", ("held out", *metrics), rows)


def _gain_table(result: Mapping[str, Any]) -> TextTable:
    from finray.lab.evaluation.text_tables import TextTable

    ks = list(result["page_recall"]["pipeline"])
    title = f"page recall, n = {result['n']} ({result['learned_from']} skipped: the model was trained on them)"
    rows = [(name, *(_interval(values[k]) for k in ks)) for name, values in result["page_recall"].items()]
    rows += [
        (f"{name} - pipeline", *(_interval(values[k], "+") if k in values else "" for k in ks))
        for name, values in result["minus_pipeline"].items()
    ]
    return TextTable(title, ("order", *(f"@{k}" for k in ks)), rows)


def _interval(value: Mapping[str, Any], sign: str = "") -> str:
    return f"{value['value']:{sign}.3f} [{value['low']:{sign}.3f}, {value['high']:{sign}.3f}]"

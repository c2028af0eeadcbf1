"""The options of ``finray train``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from finray.core.settings import load_settings
from finray.lab.training.options import PAGE_SCORER, RERANKER, Hyperparameters, Machine, NegativeKind, Precision

app = typer.Typer(
    no_args_is_help=True,
    help="Fine-tune the page scorer and the reranker on questions with evidence, and measure what they add.",
)
_out = Console()

Questions = Annotated[
    list[str] | None,
    typer.Option("--questions", help="Questions with evidence, .jsonl or .parquet, local or s3://. May be repeated."),
]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", help="The index of their filings: one for all question files, or one for each, in order."),
]
TatQa = Annotated[list[str] | None, typer.Option("--tatqa", help="A file of TAT-QA. May be repeated.")]
Out = Annotated[str, typer.Option("--out", help="Local folder for the model; run again, it resumes.")]
Base = Annotated[str, typer.Option(help="Base model: minilm, a folder or a hub name.")]
Revision = Annotated[str, typer.Option(help="Of a hub name: a commit, branch or tag.")]
LearningRate = Annotated[float, typer.Option(min=0.0)]
Warmup = Annotated[
    float, typer.Option(min=0.0, max=0.99, help="Share of the steps over which the learning rate rises.")
]
Epochs = Annotated[float, typer.Option(min=0.0)]
MaxSteps = Annotated[int, typer.Option(min=0, help="Stop after so many steps; 0 trains all epochs.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Rows a step, for each device.")]
Accumulate = Annotated[int, typer.Option(min=1, help="Batches whose gradients are added up to one step.")]
MaxTokens = Annotated[int, typer.Option(min=8, help="Longer texts are cut; at most what the base model takes.")]
Negatives = Annotated[int, typer.Option(min=1, help="Negatives for each question.")]
Hard = Annotated[
    int, typer.Option(min=0, help="How many of them share most words with the question; the rest is random.")
]
Kind = Annotated[NegativeKind, typer.Option(help="Negatives that are tables, half tables, or any text.")]
Seed = Annotated[int, typer.Option()]
HoldOut = Annotated[
    float, typer.Option(min=0.0, max=0.5, help="Share of the questions, by whole filings, to test on instead.")
]
Folds = Annotated[
    int, typer.Option(min=0, help="Train so many models, each without one fold of the filings, and pool their tests.")
]
Candidates = Annotated[int, typer.Option(min=1, help="Look-alikes for each held-out question.")]
Most = Annotated[int, typer.Option(min=1, help="Held-out questions of each source that are tested at most.")]
CheckpointSteps = Annotated[int, typer.Option(min=1, help="Steps between checkpoints.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
PrecisionOption = Annotated[Precision, typer.Option(help="Arithmetic; auto takes bf16 where it is fast.")]
Threads = Annotated[int, typer.Option(min=0, help="CPU threads; 0 leaves PyTorch's choice.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Read and count the data, train nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a machine instead of text for a person.")]


@app.command("page-scorer")
def page_scorer(
    out: Out,
    questions: Questions = None,
    index: Indexes = None,
    tatqa: TatQa = None,
    base: Base = PAGE_SCORER.base,
    revision: Revision = "",
    learning_rate: LearningRate = PAGE_SCORER.learning_rate,
    warmup: Warmup = PAGE_SCORER.warmup,
    epochs: Epochs = PAGE_SCORER.epochs,
    max_steps: MaxSteps = 0,
    batch_size: BatchSize = PAGE_SCORER.batch_size,
    accumulate: Accumulate = 1,
    max_tokens: MaxTokens = PAGE_SCORER.max_tokens,
    negatives: Negatives = PAGE_SCORER.negatives,
    hard: Hard = PAGE_SCORER.hard,
    negative_kind: Kind = PAGE_SCORER.negative_kind,
    query_prefix: Annotated[str, typer.Option(help="What the base model's card puts before a question.")] = "",
    passage_prefix: Annotated[str, typer.Option(help="What the base model's card puts before a text.")] = "",
    seed: Seed = 0,
    hold_out: HoldOut = 0.1,
    folds: Folds = 0,
    candidates: Candidates = 50,
    most: Most = 200,
    checkpoint_steps: CheckpointSteps = 200,
    device: Device = "auto",
    precision: PrecisionOption = "auto",
    threads: Threads = 0,
    dry_run: DryRun = False,
    json_: Json = False,
) -> None:
    """A bi-encoder that finds the page: multiple negatives ranking loss, hard negatives of the same filing."""
    from finray.cli.commands.train import run_train

    options = replace(
        _options(base, learning_rate, warmup, epochs, max_steps, batch_size, accumulate, max_tokens, seed, revision),
        negatives=negatives,
        hard=hard,
        negative_kind=negative_kind,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
    )
    machine = Machine(device, precision, threads, checkpoint_steps)
    code = run_train(
        "page-scorer",
        questions or [],
        index or [],
        tatqa or [],
        out,
        options,
        machine,
        hold_out=hold_out,
        folds=folds,
        candidates=candidates,
        most=most,
        dry_run=dry_run,
        as_json=json_,
        out=_out,
    )
    raise typer.Exit(code)


@app.command()
def reranker(
    out: Out,
    questions: Questions = None,
    index: Indexes = None,
    tatqa: TatQa = None,
    base: Base = RERANKER.base,
    revision: Revision = "",
    learning_rate: LearningRate = RERANKER.learning_rate,
    warmup: Warmup = RERANKER.warmup,
    epochs: Epochs = RERANKER.epochs,
    max_steps: MaxSteps = 0,
    batch_size: BatchSize = RERANKER.batch_size,
    accumulate: Accumulate = 1,
    max_tokens: MaxTokens = RERANKER.max_tokens,
    negatives: Negatives = RERANKER.negatives,
    hard: Hard = RERANKER.hard,
    negative_kind: Kind = RERANKER.negative_kind,
    seed: Seed = 0,
    hold_out: HoldOut = 0.1,
    folds: Folds = 0,
    candidates: Candidates = 20,
    most: Most = 200,
    checkpoint_steps: CheckpointSteps = 200,
    device: Device = "auto",
    precision: PrecisionOption = "auto",
    threads: Threads = 0,
    dry_run: DryRun = False,
    json_: Json = False,
) -> None:
    """A cross-encoder of question and passage: binary cross-entropy, negatives that are tables of other pages."""
    from finray.cli.commands.train import run_train

    options = replace(
        _options(base, learning_rate, warmup, epochs, max_steps, batch_size, accumulate, max_tokens, seed, revision),
        negatives=negatives,
        hard=hard,
        negative_kind=negative_kind,
    )
    machine = Machine(device, precision, threads, checkpoint_steps)
    code = run_train(
        "reranker",
        questions or [],
        index or [],
        tatqa or [],
        out,
        options,
        machine,
        hold_out=hold_out,
        folds=folds,
        candidates=candidates,
        most=most,
        dry_run=dry_run,
        as_json=json_,
        out=_out,
    )
    raise typer.Exit(code)


@app.command("item-lexicon")
def item_lexicon(
    index: Annotated[str, typer.Option("--index", help="The index of some hundred annual and quarterly reports.")],
    out: Annotated[Path, typer.Option("--out", help="Where the lexicon is written.")] = Path("item_lexicon.json"),
) -> None:
    """Learn which SEC Items use which words (finray/retrieval/item_lexicon.json, one feature of the page model)."""
    from finray.cli.commands.train_pages import run_train_item_lexicon

    raise typer.Exit(run_train_item_lexicon(index, out, _out))


@app.command("page-ranker")
def page_ranker(
    questions: Questions = None,
    index: Indexes = None,
    data: Annotated[
        Path, typer.Option(help="What is learned from: written from --questions, read without them.")
    ] = Path("page_model_data.npz"),
    out: Annotated[Path, typer.Option("--out", help="Where the model is written.")] = Path("page_model.json"),
    l2: Annotated[float, typer.Option(min=0.0, help="Penalty on large weights.")] = 2.0,
    json_: Json = False,
) -> None:
    """Fit the small model that weighs the features of pages (the finray method's own ranking)."""
    from finray.cli.commands.train_pages import run_train_pages

    code = run_train_pages(
        questions or [],
        index or [],
        load_settings("local"),
        data_file=data,
        model_file=out,
        l2=l2,
        as_json=json_,
        out=_out,
    )
    raise typer.Exit(code)


@app.command()
def confidence(
    questions: Questions = None,
    index: Indexes = None,
    out: Annotated[Path, typer.Option("--out", help="Where the model is written.")] = Path("confidence.json"),
    preset: Annotated[str, typer.Option("--preset", help="What answers: local, paper, or a file ending in .toml.")] = (
        "local"
    ),
    l2: Annotated[float, typer.Option(min=0.0, help="Penalty on large weights.")] = 1.0,
    json_: Json = False,
) -> None:
    """Learn how likely answers are to be right, from questions with known answers and from those without (probes)."""
    from finray.cli.commands.train_confidence import run_train_confidence

    settings = load_settings(preset)
    code = run_train_confidence(questions or [], index or [], settings, model_file=out, l2=l2, as_json=json_, out=_out)
    raise typer.Exit(code)


@app.command()
def gain(
    models: Annotated[str, typer.Argument(help="The folder of a trained model, or of folds.")],
    questions: Annotated[str, typer.Option("--questions", help="Questions with evidence, .jsonl or .parquet.")],
    index: Annotated[str, typer.Option("--index", help="Index location: a folder or s3:// URI.")],
    preset: Annotated[str, typer.Option("--preset", help="The pipeline: local, paper, or a file ending in .toml.")] = (
        "local"
    ),
    candidates: Annotated[int, typer.Option(min=1, help="Pages of the pipeline that the model orders anew.")] = 20,
    device: Device = "auto",
    threads: Threads = 0,
    json_: Json = False,
) -> None:
    """What a trained model adds to the pipeline: page recall of its first pages, in three orders."""
    from finray.cli.commands.train import run_gain

    machine = Machine(device=device, threads=threads)
    settings = load_settings(preset)
    raise typer.Exit(
        run_gain(models, questions, index, settings, machine, candidates=candidates, as_json=json_, out=_out)
    )


def _options(
    base: str,
    learning_rate: float,
    warmup: float,
    epochs: float,
    max_steps: int,
    batch_size: int,
    accumulate: int,
    max_tokens: int,
    seed: int,
    revision: str,
) -> Hyperparameters:
    return Hyperparameters(
        base=base,
        learning_rate=learning_rate,
        warmup=warmup,
        epochs=epochs,
        max_steps=max_steps,
        batch_size=batch_size,
        accumulate=accumulate,
        max_tokens=max_tokens,
        seed=seed,
        revision=revision,
    )

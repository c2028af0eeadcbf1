"""``finray train`` for small models that are fitted in minutes and measured on held-out companies: item lexicon, page
ranker, confidence of answers, and the weights that match filings and rows to questions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich import box
from rich.table import Table

from finray.cli.options import JsonOption, SetOption, overrides_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.settings import Settings, load_settings
from finray.core.types import Question

if TYPE_CHECKING:
    from finray.core.fitted import FittedWeights
    from finray.engine import Engine
    from finray.lab.training.page_ranker import RankedQuestion
    from finray.lab.training.page_ranking_data import Progress
    from finray.models.encoder import Encoder

T = TypeVar("T")
Gather = Callable[[Sequence[Question], "Engine", str, "Progress"], Coroutine[Any, Any, T]]
"""Makes training data of questions, an engine over their filings, and the name of their source."""

Questions = Annotated[
    list[str] | None,
    typer.Option("--questions", help="Questions with evidence, .jsonl or .parquet, local or s3://. May be repeated."),
]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", help="Index of their filings: one for all question files, or one for each, in order."),
]
Data = Annotated[Path, typer.Option(help="Training data: written if --questions are given, otherwise read.")]
ModelOut = Annotated[Path, typer.Option("--out", help="File to write the model to.")]
WeightsOut = Annotated[Path, typer.Option("--out", help="File to write the weights to.")]
EngineOption = Annotated[str, typer.Option("--preset", help="The engine: local, hirec, or a file ending in .toml.")]
Preset = Annotated[str, typer.Option("--preset", help="The question reader: local, hirec, or a file ending in .toml.")]
L2 = Annotated[float, typer.Option(min=0.0, help="Penalty on large weights.")]
L2ToHand = Annotated[float, typer.Option(min=0.0, help="Penalty on weights away from those chosen by hand.")]
_KS = (1, 5, 10, 20)


def item_lexicon(
    index: Annotated[str, typer.Option("--index", help="Index of at least a hundred annual and quarterly reports.")],
    out: Annotated[Path, typer.Option("--out", help="File to write the lexicon to.")] = Path("item_lexicon.json"),
) -> int:
    """Learn which SEC Items use which words (finray/retrieval/item_lexicon.json, one feature of the page model)."""
    from finray.index.reader import IndexReader
    from finray.lab.training.item_lexicon import MIN_FILINGS, MIN_PAGES, index_item_lexicon, item_lexicon_json

    lexicon = index_item_lexicon(IndexReader.open(index))
    if not lexicon:
        raise UsageError(
            f"the index at {index!r} is too small to learn from: no word occurs on {MIN_PAGES} pages of {MIN_FILINGS} "
            "annual and quarterly reports"
        )
    _write(out, item_lexicon_json(lexicon))
    emit(lexicon, f"wrote {out}: {len(lexicon):,} words", as_json=False)
    return 0


def page_ranker(
    questions: Questions = None,
    index: Indexes = None,
    data: Data = Path("page_model_data.npz"),
    out: ModelOut = Path("page_model.json"),
    l2: L2 = 2.0,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> int:
    """Fit the small model that weighs the features of pages (the ranking of the method "finray").

    Indexes of another encoder need its setting, such as --set encoder.model=minilm.
    """
    from finray.lab.training.page_ranker import fit
    from finray.lab.training.page_ranking_data import RankingData, load_ranking_data, ranking_data, save_ranking_data
    from finray.models.encoder import QueryCache, load_encoder
    from finray.retrieval.page_features import FEATURES
    from finray.retrieval.page_model import page_model_json

    if sources := _sources(questions, index, data):
        settings = load_settings("local", overrides_of(set_))
        encoder = QueryCache(load_encoder(settings.encoder, threads=1))

        async def gather(asked: Sequence[Question], engine: Engine, source: str, progress: Progress) -> RankingData:
            return await ranking_data(asked, engine, encoder, source, progress)

        parts = list(_gathered(gather, sources, settings, encoder))
        examples = RankingData(
            tuple(question for part in parts for question in part.given),
            tuple(question for part in parts for question in part.end_to_end),
        )
        save_ranking_data(data, examples)
    else:
        examples = load_ranking_data(data)
    held_out = {
        "gold filing given": _held_out_recall(examples.given, examples.end_to_end, l2),
        "end to end": _held_out_recall(examples.end_to_end, examples.given, l2),
    }
    groups = len({question.group for question in examples.given})
    trained = {"questions": len(examples.given), "groups": groups, "l2": l2, "held_out": held_out}
    weights = fit([*examples.given, *examples.end_to_end], l2)
    _write(out, page_model_json(weights, trained))
    recalls = (
        (f"{source}, {setting}", *figures.values())
        for setting, sources_ in held_out.items()
        for source, figures in sources_.items()
    )
    emit(
        {"model": str(out), **trained},
        _table("Page recall on held-out companies", ("questions", *(f"@{k}" for k in _KS)), recalls),
        _weights("feature", FEATURES, weights),
        f"wrote {out} from {len(examples.given)} questions of {groups} companies",
        as_json=json_,
    )
    return 0


def confidence(
    questions: Questions = None,
    index: Indexes = None,
    out: ModelOut = Path("confidence.json"),
    preset: EngineOption = "local",
    l2: L2 = 1.0,
    json_: JsonOption = False,
) -> int:
    """Fit the confidence of answers, from questions with known answers and unanswerable ones (probes)."""
    from finray.answering.confidence import SIGNALS, confidence_model_json
    from finray.batch.question_files import read_questions
    from finray.engine import open_engine
    from finray.lab.evaluation.calibration import calibration
    from finray.lab.training.confidence import GradedAnswer, fit_confidence, graded_answers, held_out_confidences
    from finray.models.encoder import load_encoder

    settings = load_settings(preset)
    answers: list[GradedAnswer] = []
    encoder = load_encoder(settings.encoder, threads=1)
    for source, uri in sources_of(questions, index):
        asked = [line for line in read_questions(source) if isinstance(line, Question)]
        engine = open_engine(uri, settings, encoder=encoder)
        with progress_bar(err, f"answering {Path(source).name}") as progress:
            answers += asyncio.run(graded_answers(asked, engine, progress))
    if not answers:
        raise UsageError("no answer can be compared with a gold answer: nothing to learn from")
    model = fit_confidence(answers, l2)
    trained: dict[str, Any] = {"answers": len(answers), "groups": len({each.group for each in answers}), "l2": l2}
    lines = [f"wrote {out}"]
    if (found := calibration(held_out_confidences(answers, l2))) is not None:
        measures = {"accuracy": found.accuracy, "ece": found.ece, "brier": found.brier, "brier_skill": found.skill}
        figures = {"n": found.n} | {name: round(value, 3) for name, value in measures.items()}
        trained["held_out"] = figures
        lines.insert(0, f"on held-out companies: {_listed(figures)}")
    _write(out, confidence_model_json(model, trained))
    weights = {name: round(float(weight), 2) for name, weight in zip(SIGNALS, model.weights, strict=True)}
    record = {"model": str(out), **trained, "weights": weights}
    emit(record, _weights("signal", SIGNALS, model.weights), *lines, as_json=json_)
    return 0


def filing_match(
    questions: Questions = None,
    index: Indexes = None,
    data: Data = Path("filing_match_data.npz"),
    out: WeightsOut = Path("filing_match.json"),
    preset: Preset = "local",
    l2: L2ToHand = 10.0,
    json_: JsonOption = False,
) -> int:
    """Fit the weights that match a filing's period and form to those of a question."""
    from finray.core.fitted import FittedWeights
    from finray.lab.training.filing_match import fit_filing_match, held_out
    from finray.lab.training.filing_match_data import filing_choices, load_filing_choices, save_filing_choices
    from finray.retrieval.filing_match import shipped_filing_match
    from finray.retrieval.filing_relations import WEIGHTS

    if sources := _sources(questions, index, data):
        choices = [choice for part in _gathered(filing_choices, sources, load_settings(preset)) for choice in part]
        save_filing_choices(data, choices)
    else:
        choices = load_filing_choices(data)
    if not choices:
        raise UsageError("the index has no evidence of any question: nothing to learn from")
    prior = shipped_filing_match().prior
    measured = {
        "gold filing first" if k == 1 else f"gold filing among the first {k}": pairs
        for k, pairs in held_out(choices, prior, l2, (1, 3)).items()
    }
    weights = FittedWeights(fit_filing_match(choices, prior, l2), prior)
    return _finish(out, weights, WEIGHTS, measured, [choice.group for choice in choices], l2, as_json=json_)


def row_match(
    questions: Questions = None,
    index: Indexes = None,
    data: Data = Path("row_match_data.npz"),
    out: WeightsOut = Path("row_match.json"),
    preset: Preset = "local",
    l2: L2ToHand = 3.0,
    json_: JsonOption = False,
) -> int:
    """Fit the weights that match the row of a table to the words of a question."""
    from finray.answering.row_weights import WEIGHTS, fitted_row_weights
    from finray.core.fitted import FittedWeights
    from finray.lab.training.row_match import fit_row_match, held_out
    from finray.lab.training.row_match_data import load_row_choices, row_choices, save_row_choices

    if sources := _sources(questions, index, data):
        choices = [choice for part in _gathered(row_choices, sources, load_settings(preset)) for choice in part]
        save_row_choices(data, choices)
    else:
        choices = load_row_choices(data)
    if not choices:
        raise UsageError("no question asks for one figure that a table of the index prints: nothing to learn from")
    prior = fitted_row_weights().prior
    measured = {"gold cell first": held_out(choices, prior, l2)}
    weights = FittedWeights(fit_row_match(choices, prior, l2), prior)
    return _finish(out, weights, WEIGHTS, measured, [choice.group for choice in choices], l2, as_json=json_)


def sentences(
    questions: Questions = None,
    index: Indexes = None,
    out: ModelOut = Path("sentence_model.json"),
    preset: Preset = "local",
    l2: L2 = 1.0,
    json_: JsonOption = False,
) -> int:
    """Fit the model that chooses the sentences of answers in words, from questions with quoted evidence."""
    from finray.answering.sentence_features import FEATURES
    from finray.answering.sentence_model import SIGNALS, sentence_model_json
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.sentence_data import sentence_questions
    from finray.lab.training.sentences import SentenceQuestion, fit_sentences, held_out_tests
    from finray.models.encoder import QueryCache, load_encoder

    sources, settings = sources_of(questions, index), load_settings(preset)
    encoder = QueryCache(load_encoder(settings.encoder, threads=1))

    async def gather(
        asked: Sequence[Question], engine: Engine, source: str, progress: Progress
    ) -> list[SentenceQuestion]:
        return await sentence_questions(asked, engine, encoder, source, progress)

    given = [each for part in _gathered(gather, sources, settings, encoder) for each in part]
    if not any(each.evidence.any() for each in given):
        raise UsageError("no question has its evidence among the sentences of its pages: nothing to learn from")
    model = fit_sentences(given, l2)
    tests = [test for test in held_out_tests(given, l2) if test.in_words]
    measured = {
        "best sentence": shown(estimate([float(test.best) for test in tests])),
        "chosen sentences": shown(estimate([float(test.any) for test in tests])),
    }
    companies = len({each.group for each in given})
    trained = {"questions": len(given), "companies": companies, "l2": l2, "evidence_held_out": measured}
    _write(out, sentence_model_json(model, trained))
    record = {"model": str(out), **trained, "threshold": model.threshold}
    lines = [f"evidence on held-out companies: {_listed(measured)}", f"wrote {out} from {len(given)} questions"]
    tables = (_weights("feature", FEATURES, model.weights), _weights("signal", SIGNALS, model.answers))
    emit(record, *tables, *lines, as_json=json_)
    return 0


def _sources(questions: Sequence[str] | None, indexes: Sequence[str] | None, data: Path) -> list[tuple[str, str]]:
    """(question file, index) of each source; none if ``data`` is to be read instead. Raises UsageError."""
    questions, indexes = questions or (), indexes or ()
    if len(questions) != len(indexes):
        raise UsageError(f"{len(questions)} --questions and {len(indexes)} --index: give one index for each file")
    if not questions and not data.is_file():
        raise UsageError(f"{data} is missing: give --questions and --index to create it")
    return list(zip(questions, indexes, strict=True))


def sources_of(questions: Sequence[str] | None, indexes: Sequence[str] | None) -> list[tuple[str, str]]:
    """(question file, index) of each source. Raises UsageError if there is none or an index is missing."""
    if not questions or len(questions) != len(indexes or ()):
        raise UsageError("give each --questions file the --index that its filings are in")
    return list(zip(questions, indexes or (), strict=True))


def _gathered(
    gather: Gather[T], sources: Sequence[tuple[str, str]], settings: Settings, encoder: Encoder | None = None
) -> Iterator[T]:
    """Training data of each source."""
    from finray.engine import open_engine
    from finray.lab.training.inputs import training_questions

    for file, index in sources:
        asked = training_questions(file)
        engine = open_engine(index, settings, encoder=encoder)
        with progress_bar(err, f"reading {Path(file).name}") as progress:
            yield asyncio.run(gather(asked, engine, Path(file).parent.name, progress))


def _held_out_recall(
    scored: Sequence[RankedQuestion], also: Sequence[RankedQuestion], l2: float
) -> dict[str, dict[str, str]]:
    """Source -> ``page_recall@k`` -> estimate; each company is ranked by weights fitted without it."""
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.page_ranker import held_out_recall

    recalls = held_out_recall(scored, also, l2, _KS)
    by_source: dict[str, list[Sequence[float]]] = {}
    for qid, recall in recalls.items():
        by_source.setdefault(qid.partition(":")[0], []).append(recall)
    return {
        source: {f"page_recall@{k}": shown(estimate([row[at] for row in rows])) for at, k in enumerate(_KS)}
        for source, rows in by_source.items()
    }


def _finish(
    out: Path,
    fitted: FittedWeights,
    meanings: Mapping[str, str],
    measured: Mapping[str, Sequence[tuple[float, float]]],
    groups: Sequence[str],
    l2: float,
    *,
    as_json: bool,
) -> int:
    """Write and print ``fitted``. ``measured`` has pairs (fitted, chosen by hand) on held-out companies for each
    measure, ``groups`` the company of each choice."""
    from finray.core.bootstrap import estimate, paired_difference
    from finray.core.fitted import weights_json
    from finray.lab.evaluation.report import shown

    figures = {}
    for measure, pairs in measured.items():
        new, prior = ([pair[side] for pair in pairs] for side in (0, 1))
        compared = {"by hand": estimate(prior), "fitted": estimate(new), "difference": paired_difference(new, prior)}
        figures[measure] = {name: shown(value) for name, value in compared.items()}
    trained = {"choices": len(groups), "companies": len(set(groups)), "l2": l2, "held_out": figures}
    _write(out, weights_json(fitted, trained))
    rows = ((name, f"{fitted.prior[name]:.3f}", f"{fitted.weights[name]:.3f}", meanings[name]) for name in meanings)
    lines = [f"{measure}, on held-out companies: {_listed(values)}" for measure, values in figures.items()]
    lines.append(f"wrote {out} from {len(groups)} choices of {trained['companies']} companies")
    record = {"model": str(out), **trained, "weights": fitted.weights}
    emit(record, _table("Weights", ("weight", "by hand", "fitted", "meaning"), rows), *lines, as_json=as_json)
    return 0


def _write(path: Path, text: str) -> None:
    from finray.storage.atomic import replacing

    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _weights(what: str, meanings: Mapping[str, str], weights: Iterable[float]) -> Table:
    rows = ((name, f"{weight:+.2f}", meanings[name]) for name, weight in zip(meanings, weights, strict=True))
    return _table("Weights", (what, "weight", "meaning"), rows)


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Figures are at the right, words (the first column and meanings) at the left."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for at, head in enumerate(heads):
        table.add_column(head, justify="left" if at == 0 or head == "meaning" else "right")
    for row in rows:
        table.add_row(*row)
    return table


def _listed(figures: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in figures.items())

"""``finray train company-choice`` and ``closest-rows``: the company that is meant, the rows closest to a question."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.cli.train.fitting import L2, Indexes, Questions, sources_of
from finray.core.errors import UsageError

if TYPE_CHECKING:
    from finray.lab.training.answers.closest_rows import ClosestQuestion
    from finray.lab.training.retrieval.company_choice import CompanyQuestion

Out: TypeAlias = Annotated[Path, typer.Option("--out", help="File to write the model to.")]


def company_choice(
    questions: Questions = None,
    index: Indexes = None,
    out: Out = Path("company_choice.json"),
    l2: L2 = 1.0,
    json_: JsonOption = False,
) -> int:
    """Fit the model that decides which company is meant if a question names none of the index. Probes about other
    companies (finray probes) show it what no company is meant by."""
    from finray.core.fitted import FittedWeights, weights_json
    from finray.lab.training.retrieval.company_choice import COMPANIES, measured
    from finray.retrieval.company_model import NAMES, THRESHOLD

    given = [each for file, uri in sources_of(questions, index) for each in _companies(file, uri)]
    if not any(each.gold.any() for each in given):
        raise UsageError("the index has the company of no question: nothing to learn from")
    model = COMPANIES.fit(given, l2)
    threshold = model.thresholds[THRESHOLD]
    figures = measured(COMPANIES.held_out(given, l2), given, threshold)
    trained = {"questions": len(given), "sources": _stems(questions), "l2": l2, "held_out": figures}
    values = [*model.weights.tolist(), *model.answers.tolist(), threshold]
    fitted = FittedWeights(dict(zip(NAMES, values, strict=True)), dict.fromkeys(NAMES, 0.0))
    return _finish(out, weights_json(fitted, trained), {"threshold": threshold, **trained}, figures, as_json=json_)


def closest_rows(
    questions: Questions = None,
    index: Indexes = None,
    out: Out = Path("closest_rows.json"),
    preset: PresetOption = "local",
    set_: SetOption = None,
    l2: L2 = 1.0,
    json_: JsonOption = False,
) -> int:
    """Fit the model that shows the rows closest to a question that would be refused (loop.closest)."""
    from finray.answering.choice_model import fitted_json
    from finray.answering.closest.features import FEATURES
    from finray.answering.closest.model import SIGNALS
    from finray.lab.training.answers.closest_rows import fit_closest, held_out_rows, measured

    chosen = settings_of(preset, [*(set_ or []), "loop.closest=false"])
    given = [each for file, uri in sources_of(questions, index) for each in _rows(file, uri, chosen)]
    if not any(each.gold.any() for each in given):
        raise UsageError("no question has its evidence among the rows of its pages: nothing to learn from")
    model = fit_closest(given, l2)
    figures = measured(held_out_rows(given, l2), model.thresholds["threshold"])
    trained = {"questions": len(given), "sources": _stems(questions), "l2": l2, "held_out": figures}
    text = fitted_json(model, FEATURES, SIGNALS, trained)
    return _finish(out, text, {**model.thresholds, **trained}, figures, as_json=json_)


def _companies(file: str, index: str) -> list[CompanyQuestion]:
    from finray.index.reading.reader import IndexReader
    from finray.lab.training.fine_tuning.inputs import training_questions
    from finray.lab.training.retrieval.company_choice import company_questions

    with progress_bar(err, f"reading {Path(file).name}") as progress:
        return company_questions(training_questions(file), IndexReader.open(index), Path(file).stem, progress)


def _rows(file: str, index: str, settings: Any) -> list[ClosestQuestion]:
    from finray.engine import open_engine
    from finray.lab.training.answers.closest_rows import closest_questions
    from finray.lab.training.fine_tuning.inputs import training_questions

    asked, engine = training_questions(file), open_engine(index, settings)
    with progress_bar(err, f"answering {Path(file).name}") as progress:
        return asyncio.run(closest_questions(asked, engine, Path(file).stem, progress))


def _stems(files: Sequence[str] | None) -> list[str]:
    return [Path(file).stem for file in files or ()]


def _finish(out: Path, text: str, record: Mapping[str, Any], figures: Mapping[str, Any], *, as_json: bool) -> int:
    from finray.storage.atomic import replacing

    with replacing(out) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    listed = ", ".join(f"{name} {value}" for name, value in figures.items())
    emit({"model": str(out), **record}, f"on held-out companies: {listed}", f"wrote {out}", as_json=as_json)
    return 0

"""``finray train company-choice``: the company that a question means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from finray.cli.options import JsonOption
from finray.cli.output import err
from finray.cli.progress import progress_bar
from finray.cli.train.fitting import L2, Indexes, ModelOut, Questions, finish, listed, sources_of, stems
from finray.core.errors import UsageError

if TYPE_CHECKING:
    from finray.lab.training.retrieval.company_choice import CompanyQuestion


def company_choice(
    questions: Questions = None,
    index: Indexes = None,
    out: ModelOut = Path("company_choice.json"),
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
    trained = {"questions": len(given), "sources": stems(questions), "l2": l2, "held_out": figures}
    values = [*model.weights.tolist(), *model.answers.tolist(), threshold]
    fitted = FittedWeights(dict(zip(NAMES, values, strict=True)), dict.fromkeys(NAMES, 0.0))
    lines = [f"on held-out companies: {listed(figures)}", f"wrote {out}"]
    return finish(out, weights_json(fitted, trained), {"threshold": threshold, **trained}, *lines, as_json=json_)


def _companies(file: str, index: str) -> list[CompanyQuestion]:
    from finray.index.reading.reader import IndexReader
    from finray.lab.training.fine_tuning.inputs import training_questions
    from finray.lab.training.retrieval.company_choice import company_questions

    with progress_bar(err, f"reading {Path(file).name}") as progress:
        return company_questions(training_questions(file), IndexReader.open(index), Path(file).stem, progress)

"""``finray train filing-match`` and ``row-match``: weights that match filings and table rows to a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finray.cli.options import JsonOption
from finray.cli.train.fitting import (
    Data,
    Indexes,
    Preset,
    Questions,
    figures_table,
    finish,
    gathered,
    listed,
    sources_or_data,
)
from finray.core.errors import UsageError
from finray.core.settings import load_settings

if TYPE_CHECKING:
    from finray.core.fitted import FittedWeights

WeightsOut = Annotated[Path, typer.Option("--out", help="File to write the weights to.")]
L2ToHand = Annotated[float, typer.Option(min=0.0, help="Penalty on weights away from those chosen by hand.")]


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
    from finray.lab.training.retrieval.filing_match import fit_filing_match, held_out
    from finray.lab.training.retrieval.filing_match_data import filing_choices, load_filing_choices, save_filing_choices
    from finray.retrieval.filing_match import shipped_filing_match
    from finray.retrieval.filing_relations import WEIGHTS

    if sources := sources_or_data(questions, index, data):
        choices = [choice for part in gathered(filing_choices, sources, load_settings(preset)) for choice in part]
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
    from finray.answering.cells.row_weights import WEIGHTS, fitted_row_weights
    from finray.core.fitted import FittedWeights
    from finray.lab.training.answers.row_match import fit_row_match, held_out
    from finray.lab.training.answers.row_match_data import load_row_choices, row_choices, save_row_choices

    if sources := sources_or_data(questions, index, data):
        choices = [choice for part in gathered(row_choices, sources, load_settings(preset)) for choice in part]
        save_row_choices(data, choices)
    else:
        choices = load_row_choices(data)
    if not choices:
        raise UsageError("no question asks for one figure that a table of the index prints: nothing to learn from")
    prior = fitted_row_weights().prior
    measured = {"gold cell first": held_out(choices, prior, l2)}
    weights = FittedWeights(fit_row_match(choices, prior, l2), prior)
    return _finish(out, weights, WEIGHTS, measured, [choice.group for choice in choices], l2, as_json=json_)


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
    rows = ((name, f"{fitted.prior[name]:.3f}", f"{fitted.weights[name]:.3f}", meanings[name]) for name in meanings)
    lines = [f"{measure}, on held-out companies: {listed(values)}" for measure, values in figures.items()]
    lines.append(f"wrote {out} from {len(groups)} choices of {trained['companies']} companies")
    table = figures_table("Weights", ("weight", "by hand", "fitted", "meaning"), rows)
    record = {**trained, "weights": fitted.weights}
    return finish(out, weights_json(fitted, trained), record, table, *lines, as_json=as_json)

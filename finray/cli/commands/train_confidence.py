"""``finray train confidence``: how likely answers are to be right, learned from questions with known answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from finray.answering.confidence import SIGNALS, confidence_model_json
from finray.batch.question_files import read_questions
from finray.cli.commands.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.settings import Settings
from finray.core.types import Question
from finray.engine import open_engine
from finray.lab.evaluation.calibration import Calibration, calibration
from finray.lab.training.confidence import GradedAnswer, fit_confidence, graded_answers, held_out_confidences
from finray.models.encoder import load_encoder
from finray.storage.atomic import replacing


def run_train_confidence(
    questions: Sequence[str],
    indexes: Sequence[str],
    settings: Settings,
    *,
    model_file: Path,
    l2: float,
    as_json: bool,
    out: Console,
) -> int:
    """Answer, grade, fit, write; the calibration shown is that on companies left out. Raises UsageError."""
    if not questions or len(questions) != len(indexes):
        raise UsageError("give each --questions file the --index that its filings are in")
    answers: list[GradedAnswer] = []
    encoder = load_encoder(settings.encoder, threads=1)
    for source, index in zip(questions, indexes, strict=True):
        asked = [line for line in read_questions(source) if isinstance(line, Question)]
        engine = open_engine(index, settings, encoder=encoder)
        with progress_bar(Console(stderr=True), f"answering {Path(source).name}") as progress:
            answers += asyncio.run(graded_answers(asked, engine, progress))
    if not answers:
        raise UsageError("none of the questions was answered with something that its gold answer can be held against")
    held_out = calibration(held_out_confidences(answers, l2))
    model = fit_confidence(answers, l2)
    trained: dict[str, Any] = {"answers": len(answers), "groups": len({each.group for each in answers}), "l2": l2}
    if held_out is not None:
        trained["held_out"] = _figures(held_out)
    with replacing(model_file) as unfinished:
        unfinished.write_text(confidence_model_json(model, trained), encoding="utf-8")
    weights = dict(zip(SIGNALS, (round(float(weight), 2) for weight in model.weights), strict=True))
    if as_json:
        out.print_json(json.dumps({"model": str(model_file), **trained, "weights": weights}))
    else:
        table = Table(title="Weights", title_justify="left", box=box.SIMPLE)
        table.add_column("signal")
        table.add_column("weight", justify="right")
        table.add_column("what it is")
        for name, weight in weights.items():
            table.add_row(name, f"{weight:+.2f}", SIGNALS[name])
        out.print(table)
        if held_out is not None:
            figures = ", ".join(f"{name} {value}" for name, value in _figures(held_out).items())
            out.print(f"on companies left out: {figures}", highlight=False)
        out.print(f"wrote {model_file}", highlight=False)
    return 0


def _figures(found: Calibration) -> dict[str, float]:
    return {
        "n": found.n,
        "accuracy": round(found.accuracy, 3),
        "ece": round(found.ece, 3),
        "brier": round(found.brier, 3),
        "brier_skill": round(found.skill, 3),
    }

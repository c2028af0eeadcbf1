"""``finray train confidence`` and ``sentences``: how sure an answer is, and which sentences it quotes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from finray.cli.options import JsonOption
from finray.cli.output import err
from finray.cli.progress import progress_bar
from finray.cli.train.fitting import (
    L2,
    EngineOption,
    Indexes,
    ModelOut,
    Preset,
    Questions,
    finish,
    gathered,
    listed,
    sources_of,
    weights_table,
    with_loop,
)
from finray.core.errors import UsageError
from finray.core.questions import Question
from finray.core.settings import load_settings


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
    from finray.lab.training.answers.confidence import (
        GradedAnswer,
        fit_confidence,
        graded_answers,
        held_out_confidences,
    )
    from finray.models.encoder_loading import load_encoder

    settings = load_settings(preset)
    tables = settings.loop.tables
    # The confidence is that of plans and quotations: figures from tables and sentences come with their own.
    settings = with_loop(settings, tables=False, figures=False, least_confidence=0.0)
    answers: list[GradedAnswer] = []
    encoder = load_encoder(settings.encoder, threads=1)
    for source, uri in sources_of(questions, index):
        asked = [line for line in read_questions(source) if isinstance(line, Question)]
        engine = open_engine(uri, settings, encoder=encoder)
        with progress_bar(err, f"answering {Path(source).name}") as progress:
            answers += asyncio.run(graded_answers(asked, engine, progress, tables=tables))
    if not answers:
        raise UsageError("no answer can be compared with a gold answer: nothing to learn from")
    model = fit_confidence(answers, l2)
    trained: dict[str, Any] = {"answers": len(answers), "groups": len({each.group for each in answers}), "l2": l2}
    lines = [f"wrote {out}"]
    if (found := calibration(held_out_confidences(answers, l2))) is not None:
        measures = {"accuracy": found.accuracy, "ece": found.ece, "brier": found.brier, "brier_skill": found.skill}
        figures = {"n": found.n} | {name: round(value, 3) for name, value in measures.items()}
        trained["held_out"] = figures
        lines.insert(0, f"on held-out companies: {listed(figures)}")
    weights = {name: round(float(weight), 2) for name, weight in zip(SIGNALS, model.weights, strict=True)}
    table = weights_table("signal", SIGNALS, model.weights)
    content = confidence_model_json(model, trained)
    return finish(out, content, {**trained, "weights": weights}, table, *lines, as_json=json_)


def sentences(
    questions: Questions = None,
    index: Indexes = None,
    out: ModelOut = Path("sentence_model.json"),
    preset: Preset = "local",
    l2: L2 = 1.0,
    json_: JsonOption = False,
) -> int:
    """Fit the model that chooses the sentences of answers in words, from questions with quoted evidence."""
    from finray.answering.sentences.features import FEATURES
    from finray.answering.sentences.model import SIGNALS, sentence_model_json
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.answers.sentence_data import sentence_questions
    from finray.lab.training.answers.sentences import fit_sentences, held_out_tests
    from finray.models.encoder import QueryCache
    from finray.models.encoder_loading import load_encoder

    sources, settings = sources_of(questions, index), load_settings(preset)
    encoder = QueryCache(load_encoder(settings.encoder, threads=1))
    given = [
        each
        for part in gathered(
            lambda asked, engine, source, progress: sentence_questions(asked, engine, encoder, source, progress),
            sources,
            settings,
            encoder,
        )
        for each in part
    ]
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
    lines = [f"evidence on held-out companies: {listed(measured)}", f"wrote {out} from {len(given)} questions"]
    tables = (weights_table("feature", FEATURES, model.weights), weights_table("signal", SIGNALS, model.answers))
    record = {**trained, "threshold": model.threshold}
    return finish(out, sentence_model_json(model, trained), record, *tables, *lines, as_json=json_)

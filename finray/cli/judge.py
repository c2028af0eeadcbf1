"""``finray judge``, ``judge-labels`` and ``judge-agreement``: judge textual answers, and measure the judges."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from finray.cli.answer import spent
from finray.cli.options import JsonOption, PresetOption, RunsArgument, SetOption, runs_and_questions, settings_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.questions import Question

if TYPE_CHECKING:
    from finray.lab.evaluation.judging.judge_all import JudgeSummary


def judge(
    predictions: RunsArgument,
    out_: Annotated[str, typer.Option("--out", help="Judgements, .jsonl, local or s3://; resumes.")],
    preset: PresetOption = "local",
    set_: SetOption = None,
    retry_failed: Annotated[bool, typer.Option(help="Try answers again that could not be judged.")] = False,
    json_: JsonOption = False,
) -> int:
    """Judge textual answers against gold answers with a language model; `evaluate --judgements` uses the result."""
    from finray.lab.evaluation.judging.judge_all import NOT_JUDGED
    from finray.lab.evaluation.judging.judgement import VERDICTS, submission_of
    from finray.lab.evaluation.judging.judges import judge_with
    from finray.lab.evaluation.runs import read_runs

    runs, asked = read_runs(*runs_and_questions(predictions))
    settings = settings_of(preset, set_)
    by_qid = {question.qid: question for question in asked}
    pairs = [(by_qid[p.qid], p) for run in runs for p in run.predictions if p.qid in by_qid]
    submissions = [found for pair in pairs if (found := submission_of(*pair)) is not None]
    if not submissions:
        raise UsageError("no textual answer to judge: numbers and refusals are scored without a judge")
    with progress_bar(err, "judging") as progress:
        summary = judge_with("llm", submissions, out_, settings, retry_failed=retry_failed, progress=progress)
    counts = ", ".join(f"{summary.verdicts.get(name, 0)} {name}" for name in (*VERDICTS, NOT_JUDGED))
    line = f"{summary.answers} textual answers: {counts} ({summary.resumed} from an earlier run) -> {out_}"
    emit(summary, line, _spent(summary), as_json=json_)
    return 1 if summary.verdicts.get(NOT_JUDGED) else 0


def judge_labels(
    questions: Annotated[str, typer.Argument(help="Questions, .jsonl or .parquet, local or s3://.")],
    out_: Annotated[str, typer.Option("--out", help="Label file to write, .jsonl, local or s3://.")],
    seed: Annotated[int, typer.Option(help="The same seed writes the same answers.")] = 0,
    json_: JsonOption = False,
) -> int:
    """Construct answers with known labels from gold answers by rule, to measure judges with."""
    from finray.batch.question_files import read_questions
    from finray.lab.evaluation.judging.constructed import companies_of, constructed_labels
    from finray.lab.evaluation.judging.judgement import VERDICTS
    from finray.lab.evaluation.judging.labels import write_labels

    asked = [line for line in read_questions(questions) if isinstance(line, Question)]
    labelled = constructed_labels(asked, companies=companies_of(questions), seed=seed)
    if not labelled:
        raise UsageError(f"{questions!r} has no question with a textual gold answer")
    write_labels(out_, labelled)
    counts = {label: sum(one.label == label for one in labelled) for label in VERDICTS}
    shown = ", ".join(f"{count} {label}" for label, count in counts.items())
    record = {"out": out_, "answers": len(labelled), "labels": counts}
    emit(record, f"{len(labelled)} answers: {shown} -> {out_}", as_json=json_)
    return 0


def judge_agreement(
    labels: Annotated[str, typer.Argument(help="Labeled answers, .jsonl, local or s3://.")],
    by: Annotated[Literal["llm", "rules"], typer.Option(help="The judge to compare with the labels.")] = "llm",
    out_: Annotated[
        str | None, typer.Option("--out", help="Keep the judgements, .jsonl, local or s3://; resumes.")
    ] = None,
    preset: PresetOption = "local",
    set_: SetOption = None,
    json_: JsonOption = False,
) -> int:
    """Measure the agreement of a judge with labels: accuracy by class, Cohen's kappa, and disagreements."""
    from finray.lab.evaluation.judging.agreement import agreement
    from finray.lab.evaluation.judging.agreement_report import agreement_report
    from finray.lab.evaluation.judging.judgement_store import read_judgements
    from finray.lab.evaluation.judging.judges import judge_with
    from finray.lab.evaluation.judging.labels import read_labels

    settings = settings_of(preset, set_)
    labelled = read_labels(labels)
    with tempfile.TemporaryDirectory() as folder, progress_bar(err, "judging") as progress:
        uri = out_ or str(Path(folder) / "judgements.jsonl")
        summary = judge_with(by, [one.submission for one in labelled], uri, settings, progress=progress)
        found = agreement(labelled, read_judgements(uri).by_key)
    record = {"judge": summary.judge, **asdict(found), "usage": asdict(summary.usage)}
    emit(record, agreement_report(summary.judge, found), _spent(summary), as_json=json_)
    return 1 if found.not_judged else 0


def _spent(summary: JudgeSummary) -> str:
    return f"{summary.judge}: {spent(summary.usage)}, {summary.seconds:.1f} s"

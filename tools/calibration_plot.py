"""Draw the calibration plot of docs/results.md, and print its figures as a table for tools/results_table.py.

    python tools/calibration_plot.py PREDICTIONS QUESTIONS [PREDICTIONS QUESTIONS ...] \
        | python tools/results_table.py calibration

Pools all runs. Writes docs/images/calibration.svg, the chart of ``finray report`` with its own colors.
"""

from __future__ import annotations

import sys
from pathlib import Path

from finray.batch.prediction_store import read_predictions
from finray.batch.question_files import read_questions
from finray.core.questions import Question
from finray.lab.evaluation.calibration import Calibration, accuracy_over_coverage, calibration, stated_confidences
from finray.lab.evaluation.html.svg import Axis, Point, Series, line_chart, standalone

IMAGE = Path(__file__).resolve().parent.parent / "docs" / "images" / "calibration.svg"
SHARES = (1.0, 0.9, 0.75, 0.5)


def main() -> None:
    files = sys.argv[1:]
    if not files or len(files) % 2:
        raise SystemExit(__doc__)
    stated: list[tuple[float, bool]] = []
    for predictions, questions in zip(files[::2], files[1::2], strict=True):
        asked = {line.qid: line for line in read_questions(questions) if isinstance(line, Question)}
        found = [p for p in read_predictions(predictions).predictions if p.qid in asked]
        stated += stated_confidences((asked[p.qid], p) for p in found)
    pooled = calibration(stated)
    if pooled is None:
        raise SystemExit("no prediction has a confidence that can be graded")
    IMAGE.write_text(drawing(pooled), encoding="utf-8")
    sys.stdout.write(table(pooled, stated))


def drawing(pooled: Calibration) -> str:
    ticks = tuple((value / 4, f"{value / 4:g}") for value in range(5))
    points = tuple(Point(b.confidence, b.accuracy) for b in pooled.bins)
    chart = line_chart(
        [Series("stated", points)],
        key="calibration",
        title="Right answers by stated confidence",
        description=f"{pooled.n} answers in {len(pooled.bins)} bins of equal size; dashed: perfect calibration.",
        x=Axis("stated confidence", ticks, 0.0, 1.0),
        diagonal=True,
    )
    return standalone(chart)


def table(pooled: Calibration, stated: list[tuple[float, bool]]) -> str:
    lines = ["| stated confidence | right | n |", "|---|---|---|"]
    lines += [f"| {b.confidence:.2f} | {b.accuracy:.2f} | {b.n} |" for b in pooled.bins]
    curve = accuracy_over_coverage(stated)
    kept = [next(a for share, a in curve if share >= wanted - 1e-9) for wanted in SHARES]
    parts = ", ".join(f"{a:.3f} of the surest {w:.0%}" for w, a in zip(SHARES, kept, strict=True))
    figures = f"calibration error {pooled.ece:.3f}, Brier score {pooled.brier:.3f}, skill {pooled.skill:+.2f}"
    lines += ["", f"n {pooled.n}; {figures}. Right: {parts}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

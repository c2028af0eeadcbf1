"""Tables of a judge's agreement with labels, for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType

from finray.lab.evaluation.judging.agreement import Agreement
from finray.lab.evaluation.judging.judge_all import NOT_JUDGED
from finray.lab.evaluation.judging.judgement import VERDICTS
from finray.lab.evaluation.report import shown
from finray.lab.evaluation.text_tables import NOTHING, TextTable


def agreement_report(judge: str, found: Agreement) -> RenderableType:
    """Tables of the totals, of the three classes, and of the kinds of answers if labels name several."""
    parts: list[RenderableType] = [_totals(judge, found), _classes(found)]
    if len(found.by_kind) > 1:
        parts.append(_kinds(found))
    return Group(*parts)


def _totals(judge: str, found: Agreement) -> TextTable:
    rows = [
        ("accuracy", shown(found.accuracy)),
        ("Cohen's kappa, three classes", shown(found.kappa)),
        ("Cohen's kappa, correct or not", shown(found.binary_kappa)),
        ("labeled correct", _share(found.share_correct_labelled)),
        ("judged correct", _share(found.share_correct_judged)),
        (NOT_JUDGED, str(found.not_judged)),
    ]
    return TextTable(f"{judge}: agreement with labels [95% interval]", ("", "value"), rows)


def _classes(found: Agreement) -> TextTable:
    columns = (*VERDICTS, NOT_JUDGED)
    rows = [
        (
            label,
            *(str(found.confusion[label][name]) for name in columns),
            _share(found.by_label[label].value),
            _share(found.precision[label].value),
        )
        for label in VERDICTS
    ]
    return TextTable("Labels and verdicts", ("label", *columns, "recall", "precision"), rows)


def _kinds(found: Agreement) -> TextTable:
    rows = [(kind, shown(estimate)) for kind, estimate in found.by_kind.items()]
    return TextTable("By kind of answer", ("kind", "judged as labeled"), rows)


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"

"""Agreement of a judge with labels as tables for a person."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from finray.lab.evaluation.judging.agreement import Agreement
from finray.lab.evaluation.judging.judge_all import NOT_JUDGED
from finray.lab.evaluation.judging.judgement import VERDICTS
from finray.lab.evaluation.report import NOTHING, shown


def agreement_report(judge: str, found: Agreement) -> RenderableType:
    """Totals, the three classes with what became of them, and the kinds of answers where labels name some."""
    parts: list[RenderableType] = [_totals(judge, found), _classes(found)]
    if len(found.by_kind) > 1:
        parts.append(_kinds(found))
    return Group(*parts)


def _totals(judge: str, found: Agreement) -> Table:
    table = _table(f"{judge}: agreement with labels [95% interval]", "", "value")
    table.add_row("accuracy", shown(found.accuracy))
    table.add_row("Cohen's kappa, three classes", shown(found.kappa))
    table.add_row("Cohen's kappa, correct or not", shown(found.binary_kappa))
    table.add_row("labelled correct", _share(found.share_correct_labelled))
    table.add_row("judged correct", _share(found.share_correct_judged))
    table.add_row(NOT_JUDGED, str(found.not_judged))
    return table


def _classes(found: Agreement) -> Table:
    columns = (*VERDICTS, NOT_JUDGED)
    table = _table("Labels, and the verdicts on them", "label", *columns, "recall", "precision")
    for label in VERDICTS:
        counts = (str(found.confusion[label][name]) for name in columns)
        recall, precision = found.by_label[label].value, found.precision[label].value
        table.add_row(label, *counts, _share(recall), _share(precision))
    return table


def _kinds(found: Agreement) -> Table:
    table = _table("By kind of answer", "kind", "judged as labelled")
    for kind, estimate in found.by_kind.items():
        table.add_row(Text(kind), shown(estimate))
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=box.SIMPLE)
    for at, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if at == 0 else "right", overflow="fold")
    return table


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"

"""Agreement of a judge with labels: accuracy, Cohen's kappa (Cohen 1960), and recall and precision of each class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from finray.core.bootstrap import CONFIDENCE, RESAMPLES, SEED, Estimate, estimate
from finray.lab.evaluation.judging.judge_all import NOT_JUDGED
from finray.lab.evaluation.judging.judgement import VERDICTS, Judgement
from finray.lab.evaluation.judging.labels import NO_KIND, LabeledAnswer

Pair = tuple[str, str]
"""(label, verdict)"""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of one judge with one label file. Answers without a verdict count only in ``not_judged`` and
    ``confusion``.

    ``accuracy`` is the share of equal verdicts, ``kappa`` the agreement beyond chance over the three classes,
    ``binary_kappa`` the same for correct and not correct, as in textual accuracy. ``by_label`` is the recall of each
    label, ``precision`` the precision of each verdict.
    """

    n: int
    not_judged: int
    accuracy: Estimate
    kappa: Estimate
    binary_kappa: Estimate
    by_label: Mapping[str, Estimate]
    precision: Mapping[str, Estimate]
    by_kind: Mapping[str, Estimate]
    confusion: Mapping[str, Mapping[str, int]]
    """Label -> verdict -> answers."""
    share_correct_labelled: float | None
    share_correct_judged: float | None
    """The textual accuracy according to labels and to the judge."""


def agreement(labeled: Sequence[LabeledAnswer], judgements: Mapping[str, Judgement]) -> Agreement:
    """Compare ``judgements``, by the key of their answer, with labels."""
    pairs: list[Pair] = []
    kinds: dict[str, list[float]] = defaultdict(list)
    for one in labeled:
        judgement = judgements.get(one.submission.key)
        verdict = (judgement and judgement.verdict) or NOT_JUDGED
        pairs.append((one.label, verdict))
        if verdict != NOT_JUDGED:
            kinds[one.kind or NO_KIND].append(one.label == verdict)
    judged = [(label, verdict) for label, verdict in pairs if verdict != NOT_JUDGED]
    counted = Counter(pairs)
    return Agreement(
        n=len(judged),
        not_judged=len(pairs) - len(judged),
        accuracy=estimate([label == verdict for label, verdict in judged]),
        kappa=kappa(judged),
        binary_kappa=kappa([(_binary(label), _binary(verdict)) for label, verdict in judged]),
        by_label={v: estimate([w == v for label, w in judged if label == v]) for v in VERDICTS},
        precision={v: estimate([label == v for label, w in judged if w == v]) for v in VERDICTS},
        by_kind={kind: estimate(kinds[kind]) for kind in sorted(kinds)},
        confusion={v: {w: counted[v, w] for w in (*VERDICTS, NOT_JUDGED)} for v in VERDICTS},
        share_correct_labelled=_share([label for label, _ in judged]),
        share_correct_judged=_share([verdict for _, verdict in judged]),
    )


def kappa(pairs: Sequence[Pair], *, resamples: int = RESAMPLES, seed: int = SEED) -> Estimate:
    """Cohen's kappa of the pairs, with the percentile interval over resampled pairs; all None without pairs. If all
    labels and verdicts are one class, kappa is 1 by convention."""
    if not pairs:
        return Estimate(None, None, None, 0)
    names = sorted({name for pair in pairs for name in pair})
    at = {name: index for index, name in enumerate(names)}
    cells = np.zeros((len(names), len(names)))
    for first, second in pairs:
        cells[at[first], at[second]] += 1
    random = np.random.default_rng(seed)
    drawn = random.multinomial(len(pairs), (cells / len(pairs)).ravel(), size=resamples)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile([_kappa(row.reshape(cells.shape)) for row in drawn], [tail, 1 - tail])
    return Estimate(_kappa(cells), float(low), float(high), len(pairs))


def _kappa(cells: np.ndarray) -> float:
    total = cells.sum()
    observed = np.trace(cells) / total
    expected = float(cells.sum(axis=0) @ cells.sum(axis=1)) / total**2
    return 1.0 if expected >= 1 else float((observed - expected) / (1 - expected))


def _binary(verdict: str) -> str:
    return "correct" if verdict == "correct" else "other"


def _share(verdicts: Sequence[str]) -> float | None:
    return verdicts.count("correct") / len(verdicts) if verdicts else None

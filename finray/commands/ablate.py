"""``finray ablate``: answer one question set with parts of the method switched off, and score the runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from finray.commands.answer import run_answer
from finray.commands.evaluate import run_evaluate
from finray.errors import UsageError
from finray.evaluation.ablations import ABLATIONS
from finray.settings import load_settings
from finray.storage import join


def run_ablate(
    questions: str,
    index: str,
    folder: str,
    variants: Sequence[str],
    *,
    preset: str,
    overrides: Mapping[str, Any],
    workers: int | None,
    as_json: bool,
    out: Console,
    err: Console,
) -> int:
    """Write ``folder``/<variant>.jsonl for each variant (all of them where none is named) and print the scores.

    A variant's own settings win over ``overrides``. Run again, it continues. 1 where a prediction has status "error".
    """
    unknown = [name for name in variants if name not in ABLATIONS]
    if unknown:
        raise UsageError(f"no ablation {unknown[0]!r}; there are {', '.join(ABLATIONS)}")
    chosen = list(dict.fromkeys(variants)) or list(ABLATIONS)
    settings = {name: load_settings(preset, {**overrides, **ABLATIONS[name].settings}) for name in chosen}
    targets = {name: join(folder, f"{name}.jsonl") for name in chosen}
    failed = 0
    with _cluster(workers):
        for name in chosen:
            err.print(f"{name}: {ABLATIONS[name].meaning}", highlight=False, markup=False)
            failed |= run_answer(
                questions, index, targets[name], settings[name], retry_failed=False, workers=workers, as_json=False,
                out=err, err=err,
            )  # fmt: skip
    run_evaluate(list(targets.values()), questions, as_json=as_json, out=out)
    return failed


@contextmanager
def _cluster(workers: int | None) -> Iterator[None]:
    """One Ray for all variants, where they are answered on Ray."""
    if workers == 0:
        yield
        return
    from finray.cluster.runtime import ray_cluster

    with ray_cluster():
        yield

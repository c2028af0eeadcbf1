"""``finray train printed-sign``: when parentheses around a figure mean paid or deducted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from finray.cli.options import JsonOption
from finray.cli.output import err
from finray.cli.progress import Report, progress_bar
from finray.cli.train.fitting import L2, ModelOut, finish
from finray.core.errors import UsageError


def printed_sign(
    filings: Annotated[list[Path], typer.Argument(help="HTML filings with inline XBRL, or folders of them.")],
    out: ModelOut = Path("printed_sign.json"),
    l2: L2 = 3.0,
    json_: JsonOption = False,
) -> int:
    """Fit when parentheses around a figure mean paid or deducted, from the signs of inline XBRL."""
    from finray.answering.cells.printed_sign import sign_model_json
    from finray.core.bootstrap import estimate
    from finray.core.settings import load_settings
    from finray.lab.evaluation.report import shown
    from finray.lab.training.answers.printed_sign import fit_signs, held_out, sign_examples

    files = sorted({file for each in filings for file in (each.rglob("*.htm*") if each.is_dir() else [each])})
    if missing := [str(file) for file in files if not file.is_file()]:
        raise UsageError(f"no such file: {', '.join(missing)}")
    with progress_bar(err, "reading filings") as progress:
        examples = list(sign_examples(_contents(files, progress), load_settings().filings))
    companies = len({each.company for each in examples})
    if companies < 2:
        raise UsageError(f"{len(files)} files have tagged figures in parentheses of {companies} companies; give two")
    measured = shown(estimate([float(right) for right in held_out(examples, l2)]))
    model = fit_signs(examples, l2)
    trained = {"rows": len(examples), "companies": companies, "l2": l2, "sign_right_held_out": measured}
    lines = [f"sign right on held-out companies: {measured}", f"wrote {out} from {len(examples)} rows"]
    record = {**trained, "weights": len(model.weights)}
    return finish(out, sign_model_json(model, trained), record, *lines, as_json=json_)


def _contents(files: Sequence[Path], progress: Report) -> Iterator[tuple[str, bytes]]:
    for number, file in enumerate(files):
        progress(number, len(files), file.name)
        yield str(file), file.read_bytes()

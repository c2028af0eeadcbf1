"""``finray check``: compare the tables of an index with each other and with the raw store, and repair them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from finray.cli.index import index_with_progress
from finray.cli.options import IndexOption, JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit

if TYPE_CHECKING:
    from finray.index.upkeep.check import Finding

_SHOWN = 20


def check(
    index: IndexOption,
    raw: Annotated[str | None, typer.Option("--raw", help="The raw store of `finray sync` to compare with.")] = None,
    preset: PresetOption = "local",
    set_: SetOption = None,
    deep: Annotated[bool, typer.Option("--deep", help="Read every value and every raw filing, not only keys.")] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Remove inconsistent rows, and fetch or index them again.")
    ] = False,
    json_: JsonOption = False,
) -> int:
    """Compare the tables of an index with each other and with the raw store; --repair fixes what it can."""
    from finray.edgar.check import check_all, repair_all
    from finray.index import layout

    settings = settings_of(preset, set_)
    if repair:
        layout.restore_record(index)
    found = left = check_all(index, raw, deep=deep)
    if repair and found:
        repair_all(index, raw, settings, found, partial(index_with_progress, index=index, settings=settings))
        left = check_all(index, raw, deep=deep)
    record = {"found": [asdict(finding) for finding in found], "left": [asdict(finding) for finding in left]}
    emit(record, described(found, left, repaired=repair), as_json=json_)
    return 1 if left else 0


def described(found: Sequence[Finding], left: Sequence[Finding], *, repaired: bool) -> str:
    """The number of findings of each kind, and the first findings."""
    if not found:
        return "no problems found"
    lines = [f"{count:,} {kind}" for kind, count in sorted(Counter(finding.kind for finding in found).items())]
    lines += [f"{finding.kind}: {finding.where}: {finding.detail}" for finding in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"and {len(found) - _SHOWN:,} more; --json lists all")
    if not repaired:
        lines.append("--repair fixes this: it removes inconsistent rows, then indexes or fetches them again")
    elif left:
        lines += ["left after the repair:", *(f"{f.kind}: {f.where}: {f.detail}" for f in left[:_SHOWN])]
    else:
        lines.append("repaired: no problems found")
    return "\n".join(lines)

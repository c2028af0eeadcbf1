"""``finray check``: hold an index, and the raw store that it was made from, against each other."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

from finray.core.settings import Settings
from finray.edgar.check import check_indexed, check_raw, repair_raw
from finray.edgar.ledger import Ledger
from finray.edgar.store import RawStore
from finray.index import layout
from finray.index.check import Finding, check_index, repair_index, roll_back

_SHOWN = 20


def run_check(
    index: str,
    raw: str | None,
    settings: Settings,
    *,
    deep: bool,
    repair: bool,
    as_json: bool,
    out: Console,
    err: Console,
) -> int:
    """0 where all agrees (after ``repair``: where all does now), else 1."""
    if repair:
        layout.restore_record(index)
    found = _find(index, raw, deep=deep)
    left = found
    if repair and found:
        _repair(index, raw, settings, found, err)
        left = _find(index, raw, deep=deep)
    if as_json:
        counts = {"found": asdict_all(found), "left": asdict_all(left)}
        sys.stdout.write(json.dumps(counts) + "\n")
    else:
        out.print(describe(found, left, repaired=repair), highlight=False, markup=False, soft_wrap=True)
    return 1 if left else 0


def asdict_all(findings: Sequence[Finding]) -> list[dict[str, str]]:
    return [asdict(finding) for finding in findings]


def describe(found: Sequence[Finding], left: Sequence[Finding], *, repaired: bool) -> str:
    """How many findings of each kind, and the first of them."""
    if not found:
        return "all agrees"
    lines = [f"{count:,} {kind}" for kind, count in sorted(Counter(finding.kind for finding in found).items())]
    lines += [f"{finding.kind}: {finding.where}: {finding.detail}" for finding in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"and {len(found) - _SHOWN:,} more; --json lists all")
    if not repaired:
        lines.append("--repair mends this: what does not agree is taken out, and indexed or fetched again")
    elif left:
        lines += ["left after the repair:", *(f"{f.kind}: {f.where}: {f.detail}" for f in left[:_SHOWN])]
    else:
        lines.append("mended; all agrees now")
    return "\n".join(lines)


def _find(index: str, raw: str | None, *, deep: bool) -> list[Finding]:
    findings = check_index(index, deep=deep)
    if raw is not None:
        store = RawStore(raw)
        ledger = Ledger(store.ledger_uri, read_only=True)
        findings += check_raw(store, ledger, deep=deep)
        if not any(finding.kind == "unreadable" for finding in findings):
            findings += check_indexed(store, ledger, index)
    return findings


def _repair(index: str, raw: str | None, settings: Settings, found: Sequence[Finding], err: Console) -> None:
    """The index first, then the raw store, then what the index lacks of it: by the index job."""
    from finray.cli.commands.sync import bring_up_to_date
    from finray.index.writer import claim

    record = layout.read_record(index)
    layout.check_record(index, record, layout.IndexRecord.of(settings, record.dimension))
    roll_back(index)
    claim(index)
    repair_index(index)
    if raw is not None:
        store = RawStore(raw)
        ledger = Ledger(store.ledger_uri)
        repair_raw(store, ledger, [finding for finding in found if finding.kind.startswith("raw_")])
        ledger.tidy()
        bring_up_to_date(ledger, store, index, settings, err)

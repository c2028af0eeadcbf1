"""The raw store, its ledger and the index: disagreements are found, and the next sync repairs them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from finray.core.settings import Settings
from finray.edgar.check import check_indexed, check_raw, repair_raw
from finray.edgar.ledger import Ledger
from finray.edgar.store import RawStore
from finray.index.job.in_process import index_in_process
from finray.lab.sample.edgar import Submission
from tests.edgar.syncer import Syncer


def found(sync: Syncer, *, deep: bool = True) -> list[tuple[str, str]]:
    findings = check_raw(RawStore(sync.raw), sync.ledger, deep=deep)
    return [(finding.kind, Path(finding.where).stem) for finding in findings]


def lose_text(path: Path) -> None:
    path.unlink()


def lose_mark(path: Path) -> None:
    path.with_suffix(".json").unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def cut_mark(path: Path) -> None:
    cut(path.with_suffix(".json"))


def other_date(path: Path) -> None:
    mark = path.with_suffix(".json")
    mark.write_text(mark.read_text().replace('"filed_at": "202', '"filed_at": "201'))


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        (lose_text, "raw_missing"),
        (lose_mark, "raw_missing"),
        (cut, "raw_size"),
        (flip, "raw_content"),
        (cut_mark, "raw_mark"),
        (other_date, "raw_mark"),
    ],
)
def test_a_damaged_raw_filing_is_fetched_again(
    sync: Syncer, submissions: list[Submission], damage: Callable[[Path], None], kind: str
) -> None:
    sync()
    whole = sync.stored()
    assert found(sync) == []
    victim = submissions[2].accession
    damage(Path(RawStore(sync.raw).filing_uri(victim)))
    assert found(sync) == [(kind, victim)]
    store, ledger = RawStore(sync.raw), Ledger(RawStore(sync.raw).ledger_uri)
    repair_raw(store, ledger, check_raw(store, ledger, deep=True))
    assert found(sync) == []
    assert sync().fetched == 1
    assert sync.stored() == whole
    assert found(sync) == []


def test_filings_that_the_ledger_lost_are_noted(sync: Syncer, submissions: list[Submission]) -> None:
    sync()
    before = {entry.listed.accession: entry.sha256 for entry in sync.ledger.entries()}
    shutil.rmtree(RawStore(sync.raw).ledger_uri)
    assert {kind for kind, _ in found(sync)} == {"raw_unknown"}
    store, ledger = RawStore(sync.raw), Ledger(RawStore(sync.raw).ledger_uri)
    repair_raw(store, ledger, check_raw(store, ledger))
    assert {entry.listed.accession: entry.sha256 for entry in sync.ledger.entries()} == before
    assert found(sync) == []


def test_a_filing_left_half_stored_by_a_killed_run_is_removed(sync: Syncer, submissions: list[Submission]) -> None:
    sync(ciks=frozenset({submissions[0].cik}))
    other = next(submission for submission in submissions if submission.cik != submissions[0].cik)
    half = Path(RawStore(sync.raw).filing_uri(other.accession))
    half.parent.mkdir(parents=True)
    half.write_bytes(other.content)
    assert found(sync) == [("raw_unmarked", other.accession)]
    store, ledger = RawStore(sync.raw), Ledger(RawStore(sync.raw).ledger_uri)
    repair_raw(store, ledger, check_raw(store, ledger))
    assert not half.exists()


def test_the_index_is_compared_with_the_store(
    sync: Syncer, submissions: list[Submission], local_settings: Settings, tmp_path: Path
) -> None:
    index = str(tmp_path / "index")
    sync(forms="8-K", ciks=frozenset({submissions[0].cik}))
    store = RawStore(sync.raw)
    missing = check_indexed(store, sync.ledger, index)
    assert {finding.kind for finding in missing} == {"not_indexed"}
    assert len(missing) == sum(s.form == "8-K" and s.cik == submissions[0].cik for s in submissions)
    index_in_process([store.filings_uri], index, local_settings)
    assert check_indexed(store, sync.ledger, index) == []

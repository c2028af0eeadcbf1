"""``finray sync`` as its user meets it."""

from __future__ import annotations

import datetime as dt
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from finray.cli.commands.sample import run_sample_edgar
from finray.cli.commands.sync import SyncRequest, run_sync
from finray.core.errors import SettingsError, SourceError, UsageError
from finray.core.settings import Settings, load_settings
from finray.index.reader import IndexReader
from finray.lab.sample.edgar import Submission
from tests.edgar.syncer import CONTACT
from tools.faults.edgar import BUSY, LocalEdgar

QUIET = {"edgar.requests_per_second": 1000, "edgar.retry_wait_s": 0.01, "edgar.attempts": 2, "encoder.model": "hash"}


@pytest.fixture
def settings() -> Settings:
    return load_settings(overrides={**QUIET, "edgar.contact": CONTACT}, environment={})


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def request(folder: Path, **options: object) -> SyncRequest:
    values: dict[str, object] = {
        "raw": str(folder / "raw"),
        "index": None,
        "since": dt.date(2023, 1, 1),
        "until": dt.date(2024, 3, 31),
        "forms": "10-K,10-Q,8-K",
        "tickers": None,
        "ciks": None,
        "from_feed": (),
        "dry_run": False,
        "retry_failed": False,
        "recheck": False,
    }
    return SyncRequest(**(values | options))  # type: ignore[arg-type]


def run(settings: Settings, asked: SyncRequest, *, as_json: bool = False) -> tuple[int, str]:
    out, err = Console(record=True, width=200, file=io.StringIO()), Console(quiet=True)
    code = run_sync(asked, settings, as_json=as_json, out=out, err=err)
    return code, out.export_text()


def test_without_a_contact_nothing_is_asked(edgar: LocalEdgar, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"edgar\.contact"):
        run(load_settings(environment={}), request(tmp_path))
    assert edgar.requests == []
    assert not (tmp_path / "raw").exists()


def test_the_summary_lists_what_was_done(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, settings: Settings
) -> None:
    edgar.fail(submissions[0].path, BUSY, BUSY)
    code, said = run(settings, request(tmp_path))
    assert code == 1
    assert f"{len(submissions) - 1} filings fetched" in said
    assert f"failed: {submissions[0].path}".replace("failed: ", "") in said
    assert f"not complete yet: {submissions[0].filed_at}" in said
    code, said = run(settings, request(tmp_path))
    assert code == 0
    assert "1 filings fetched" in said
    assert "complete until 2024-03-31" in said


def test_a_machine_reads_the_same(
    edgar: LocalEdgar,
    submissions: list[Submission],
    tmp_path: Path,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(settings, request(tmp_path), as_json=True)[0] == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["fetched"], said["complete_until"]) == (len(submissions), "2024-03-31")
    assert said["index"] == {"withdrawn": 0, "summary": None}


def test_tickers_are_looked_up_once_and_outlive_a_rename(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, settings: Settings
) -> None:
    one = submissions[0]
    tickers = tmp_path / "list.txt"
    tickers.write_text(f"{one.ticker}\nNOBODY\n")
    code, said = run(settings, request(tmp_path, tickers=str(tickers)))
    assert code == 1
    assert "unknown ticker: NOBODY" in said
    assert f"{sum(s.cik == one.cik for s in submissions)} filings fetched" in said
    # The company takes another ticker; the old list still means it.
    listed = edgar.folder / "files/company_tickers.json"
    listed.write_bytes(listed.read_bytes().replace(one.ticker.encode(), b"RENAMED"))
    tickers.write_text(f"{one.ticker}\n")
    edgar.requests.clear()
    code, said = run(settings, request(tmp_path, tickers=str(tickers)))
    assert (code, edgar.asked("/edgar/data/")) == (0, [])
    assert "unknown" not in said


def test_a_list_of_strangers_is_refused(edgar: LocalEdgar, tmp_path: Path, settings: Settings) -> None:
    tickers = tmp_path / "list.txt"
    tickers.write_text("NOBODY\n")
    with pytest.raises(UsageError, match="NOBODY"):
        run(settings, request(tmp_path, tickers=str(tickers)))


def test_dates_the_wrong_way_round(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(UsageError, match="after"):
        run(settings, request(tmp_path, since=dt.date(2025, 1, 1)))


def test_dumps_need_no_contact_but_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        run(load_settings(environment={}), request(tmp_path, from_feed=(str(tmp_path / "nowhere"),)))


@pytest.mark.ray
@pytest.mark.slow
def test_one_command_from_edgar_to_the_index(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, settings: Settings
) -> None:
    few = request(tmp_path, index=str(tmp_path / "index"), forms="10-K")
    code, said = run(settings, few)
    annual = {submission.accession for submission in submissions if submission.form == "10-K"}
    assert code == 0
    assert f"index: {len(annual)} files: {len(annual)} indexed" in said
    reader = IndexReader.open(str(tmp_path / "index"))
    assert {filing.filing_id for filing in reader.filings()} == annual
    assert {filing.provenance["filing_id"] for filing in reader.filings()} == {"sgml"}
    assert "index:" not in run(settings, few)[1]


def test_without_ray_for_the_few_filings_of_a_night(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, settings: Settings
) -> None:
    in_process = settings.model_copy(update={"index": settings.index.model_copy(update={"in_process": True})})
    code, said = run(in_process, request(tmp_path, index=str(tmp_path / "index"), forms="10-K"))
    annual = {submission.accession for submission in submissions if submission.form == "10-K"}
    assert (code, {filing.filing_id for filing in IndexReader.open(str(tmp_path / "index")).filings()}) == (0, annual)
    assert f"index: {len(annual)} files: {len(annual)} indexed" in said
    import ray

    assert not ray.is_initialized()


def test_the_sample_prints_how_to_sync_from_it(tmp_path: Path) -> None:
    console = Console(record=True, width=200, file=io.StringIO())
    run_sample_edgar(tmp_path / "edgar", companies=1, years=1, seed=0, console=console)
    said = console.export_text()
    assert "EDGAR_BASE_URL=" in said
    assert "finray sync --raw raw --index index --since 2023-" in said
    assert list((tmp_path / "edgar/Archives/edgar/data").rglob("*.txt"))
    assert list((tmp_path / "edgar/Archives/edgar/Feed").rglob("*.nc.tar.gz"))

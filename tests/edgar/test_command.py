"""``finray sync`` as its user meets it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from finray.cli.sample import sample
from finray.cli.sync import sync
from finray.core.errors import SettingsError, SourceError, UsageError
from finray.index.reading.reader import IndexReader
from finray.lab.sample.edgar import Submission
from tests.edgar.syncer import CONTACT
from tools.faults.edgar import BUSY, LocalEdgar

QUIET = ["edgar.requests_per_second=1000", "edgar.retry_wait_s=0.01", "edgar.attempts=2", "encoder.model=hash"]
SETTINGS = [*QUIET, f"edgar.contact={CONTACT}"]
Run = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """``finray sync`` of the filings of 15 months: exit code and standard output."""

    def synced(settings: list[str] = SETTINGS, since: str = "2023-01-01", **options: object) -> tuple[int, str]:
        since_, until = map(dt.datetime.fromisoformat, (since, "2024-03-31"))
        code = sync(str(tmp_path / "raw"), since_, until=until, set_=settings, **options)  # type: ignore[arg-type]
        return code, capsys.readouterr().out

    return synced


def test_without_a_contact_no_request_is_sent(edgar: LocalEdgar, run: Run, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"edgar\.contact"):
        run([])
    assert edgar.requests == []
    assert not (tmp_path / "raw").exists()


def test_the_summary_lists_fetched_and_failed_filings(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, run: Run
) -> None:
    edgar.fail(submissions[0].path, BUSY, BUSY)
    code, said = run()
    assert code == 1
    assert f"{len(submissions) - 1} filings fetched" in said
    assert f"failed: {submissions[0].path}".replace("failed: ", "") in said
    assert f"not complete yet: {submissions[0].filed_at}" in said
    code, said = run()
    assert code == 0
    assert "1 filings fetched" in said
    assert "complete until 2024-03-31" in said


def test_json_summary(edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, run: Run) -> None:
    code, text = run(json_=True)
    assert code == 0
    said = json.loads(text)
    assert (said["fetched"], said["complete_until"]) == (len(submissions), "2024-03-31")
    assert said["index"] == {"withdrawn": 0, "summary": None}


def test_tickers_are_looked_up_once_and_survive_a_rename(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, run: Run
) -> None:
    one = submissions[0]
    tickers = tmp_path / "list.txt"
    tickers.write_text(f"{one.ticker}\nNOBODY\n")
    code, said = run(tickers=str(tickers))
    assert code == 1
    assert "unknown ticker: NOBODY" in said
    assert f"{sum(s.cik == one.cik for s in submissions)} filings fetched" in said
    # The company takes another ticker; the old list still means it.
    listed = edgar.folder / "files/company_tickers.json"
    listed.write_bytes(listed.read_bytes().replace(one.ticker.encode(), b"RENAMED"))
    tickers.write_text(f"{one.ticker}\n")
    edgar.requests.clear()
    code, said = run(tickers=str(tickers))
    assert (code, edgar.asked("/edgar/data/")) == (0, [])
    assert "unknown" not in said


def test_with_exit_zero_a_failed_index_fails_but_a_failed_filing_does_not(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, run: Run
) -> None:
    edgar.fail(submissions[0].path, BUSY, BUSY)
    tickers = tmp_path / "list.txt"
    tickers.write_text("".join(f"{ticker}\n" for ticker in {s.ticker for s in submissions} | {"NOBODY"}))
    code, said = run(tickers=str(tickers), exit_zero=True)
    assert code == 0
    assert "unknown ticker: NOBODY" in said
    assert "1 failed" in said
    edgar.fail("edgar/full-index/2023/QTR1/form.gz", BUSY, BUSY)
    code, said = run(recheck=True, exit_zero=True)
    assert "failed: index of 2023" in said
    assert code == 1


def test_a_list_of_unknown_tickers_is_refused(edgar: LocalEdgar, tmp_path: Path, run: Run) -> None:
    tickers = tmp_path / "list.txt"
    tickers.write_text("NOBODY\n")
    with pytest.raises(UsageError, match="NOBODY"):
        run(tickers=str(tickers))


def test_companies_by_ticker_or_cik(edgar: LocalEdgar, submissions: list[Submission], run: Run) -> None:
    one, other = {s.cik: s for s in submissions}.values()
    code, said = run(QUIET, company=[one.ticker.lower()], contact=CONTACT)
    assert code == 0
    assert f"{sum(s.cik == one.cik for s in submissions)} filings fetched" in said
    code, said = run(QUIET, company=[one.ticker, str(int(other.cik))], contact=CONTACT)
    assert f"{sum(s.cik == other.cik for s in submissions)} filings fetched" in said
    with pytest.raises(UsageError, match="NOBODY"):
        run(QUIET, company=["NOBODY"], contact=CONTACT)
    with pytest.raises(UsageError, match="a company is empty"):
        run(QUIET, company=[" "], contact=CONTACT)
    with pytest.raises(SettingsError, match="--contact"):
        run(QUIET, company=[one.ticker], contact="me")


def test_since_after_until_is_refused(tmp_path: Path, run: Run) -> None:
    with pytest.raises(UsageError, match="after"):
        run(since="2025-01-01")


def test_dumps_need_no_contact_but_must_exist(run: Run, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        run([], from_feed=[str(tmp_path / "nowhere")])


@pytest.mark.ray
@pytest.mark.slow
def test_one_command_from_edgar_to_the_index(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, run: Run
) -> None:
    few = {"index": str(tmp_path / "index"), "forms": "10-K"}
    on_ray = [*SETTINGS, "index.in_process=false"]
    code, said = run(on_ray, **few)
    annual = {submission.accession for submission in submissions if submission.form == "10-K"}
    assert code == 0
    assert f"index: {len(annual)} files: {len(annual)} indexed" in said
    reader = IndexReader.open(str(tmp_path / "index"))
    assert {filing.filing_id for filing in reader.filings()} == annual
    assert {filing.provenance["filing_id"] for filing in reader.filings()} == {"sgml"}
    assert "index:" not in run(on_ray, **few)[1]


def test_few_filings_are_indexed_without_ray(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, run: Run
) -> None:
    code, said = run([*SETTINGS, "index.in_process=true"], index=str(tmp_path / "index"), forms="10-K")
    annual = {submission.accession for submission in submissions if submission.form == "10-K"}
    assert (code, {filing.filing_id for filing in IndexReader.open(str(tmp_path / "index")).filings()}) == (0, annual)
    assert f"index: {len(annual)} files: {len(annual)} indexed" in said
    import ray

    assert not ray.is_initialized()


def test_the_sample_shows_how_to_sync_from_its_edgar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sample(tmp_path / "edgar", companies=1, years=1, edgar=True) == 0
    said = capsys.readouterr().out
    assert "EDGAR_BASE_URL=" in said
    assert "finray sync --raw raw --index index --since 2023-" in said
    assert list((tmp_path / "edgar/Archives/edgar/data").rglob("*.txt"))
    assert list((tmp_path / "edgar/Archives/edgar/Feed").rglob("*.nc.tar.gz"))

"""Filings that harm their parser: each is set aside with its reason, and every other filing is indexed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from finray.cli.index import described
from finray.cluster.index_job import index_filings
from finray.cluster.runtime import ray_cluster
from finray.core.settings import Settings, load_settings
from finray.index.job.in_process import index_in_process
from finray.index.job.parser_process import ParserProcess
from finray.index.job.summary import IndexSummary
from finray.index.upkeep.check import check_index
from finray.lab.sample.generate import generate_sample
from tools.faults.contents import Contents, differences, read_contents
from tools.faults.poison import make_poison, poison_names

HARMS = {
    "exponential-forms.pdf": "timeout",
    "many-breaks.htm": "out_of_memory",
    "page-tree-loop.pdf": "corrupt_pdf",
    "deep-markup.htm": "corrupt_html",
}
GIB = 1024**3


def settings(seconds: float, gib: float) -> Settings:
    chosen = {"encoder.model": "hash", "filings.parse_seconds": seconds, "filings.parse_memory_gb": gib}
    return load_settings(overrides=chosen, environment={})


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest")
    generate_sample(folder, companies=1, years=1, seed=4, questions=1, formats=("html", "pdf"), workers=1)
    return folder / "filings"


@pytest.fixture(scope="module")
def undisturbed(honest: Path, tmp_path_factory: pytest.TempPathFactory) -> Contents:
    uri = str(tmp_path_factory.mktemp("undisturbed") / "index")
    assert not index_in_process([str(honest)], uri, settings(60, 4)).failures
    return read_contents(uri)


@pytest.fixture
def folder(honest: Path, tmp_path: Path) -> Path:
    """The valid filings; tests add poison that is read first."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for path in honest.iterdir():
        (corpus / path.name).write_bytes(path.read_bytes())
    return corpus


def put(folder: Path, names: list[str], scale: float) -> None:
    for name in names:
        (folder / f"0-{name}").write_bytes(make_poison(name, scale))


def reasons(summary: IndexSummary) -> dict[str, str]:
    return {Path(failure.source_uri).name.removeprefix("0-"): failure.reason for failure in summary.failures}


def lost(undisturbed: Contents, uri: str) -> list[str]:
    """Rows of the valid filings that are missing or changed."""
    return [line for line in differences(undisturbed, read_contents(uri)) if ": lacks " in line]


@pytest.fixture
def parsers_peak() -> Iterator[Callable[[], int]]:
    """The peak resident memory of parser processes below this one, in bytes."""
    peak, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            for process in psutil.Process().children(recursive=True):
                try:
                    if any("parser_process" in part for part in process.cmdline()):
                        peak[0] = max(peak[0], process.memory_info().rss)
                except psutil.Error:
                    continue

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield lambda: peak[0]
    done.set()
    thread.join(5)


@pytest.mark.slow
def test_poison_is_set_aside_with_its_reason_and_a_hint_and_not_tried_again(
    folder: Path, undisturbed: Contents, tmp_path: Path, parsers_peak: Callable[[], int]
) -> None:
    put(folder, list(HARMS), scale=1.0)
    limits, uri = settings(seconds=12, gib=0.3), str(tmp_path / "index")
    summary = index_in_process([str(folder)], uri, limits)
    assert reasons(summary) == HARMS
    assert lost(undisturbed, uri) == []
    assert check_index(uri, deep=True) == []
    assert parsers_peak() < 1.0 * GIB
    details = {failure.reason: failure.detail for failure in summary.failures}
    assert "12 s (filings.parse_seconds; raise it and run again with --retry-failed)" in details["timeout"]
    assert "0.3 GiB (filings.parse_memory_gb" in details["out_of_memory"]
    assert "--retry-failed" in described(summary).splitlines()[-1]
    started = time.monotonic()
    again = index_in_process([str(folder)], uri, limits)
    assert (again.indexed, again.failed) == (0, 0)
    assert again.skipped["failed before"] == len(HARMS)
    assert time.monotonic() - started < 10, "nothing was parsed"
    (folder / "0-exponential-forms.pdf").unlink()
    more = index_in_process([str(folder)], uri, settings(seconds=60, gib=4), retry_failed=True)
    assert reasons(more)["many-breaks.htm"] == "too_many_pages", "what the memory had hidden"


def test_limits_change_nothing_that_is_stored() -> None:
    assert settings(1, 1).index_hash() == settings(300, 4).index_hash()


@pytest.mark.slow
def test_a_filing_is_parsed_again_after_its_parser_is_killed(honest: Path) -> None:
    path = min(honest.glob("*10k*"))
    chosen = settings(60, 4)
    parser = ParserProcess(chosen.filings, chosen.chunks)
    expected = parser.parse(path.read_bytes(), str(path)).bundle
    assert parser.child is not None
    poison, killed = make_poison("exponential-forms.pdf", 1.0), parser.child

    def kill_soon() -> None:
        time.sleep(0.5)
        killed.kill()

    threading.Thread(target=kill_soon).start()
    quick = ParserProcess(settings(4, 4).filings, chosen.chunks)
    quick.child = killed
    with pytest.raises(Exception, match="timeout"):  # killed once, then tried again to its end
        quick.parse(poison, "/corpus/poison.pdf")
    quick.close()
    parser.child = None
    assert parser.parse(path.read_bytes(), str(path)).bundle == expected
    parser.close()


@pytest.mark.slow
def test_every_poison_ends_and_harms_no_other_filing(
    folder: Path, undisturbed: Contents, tmp_path: Path, parsers_peak: Callable[[], int]
) -> None:
    put(folder, poison_names(), scale=0.2)
    uri = str(tmp_path / "index")
    started = time.monotonic()
    summary = index_in_process([str(folder)], uri, settings(seconds=15, gib=0.35))
    assert time.monotonic() - started < 30 * len(poison_names())
    assert lost(undisturbed, uri) == []
    assert check_index(uri, deep=True) == []
    assert parsers_peak() < 1.0 * GIB
    assert {reason for reason in reasons(summary).values() if reason in ("crashed", "parser_error")} == set()
    assert {"timeout", "out_of_memory"} <= set(reasons(summary).values())


@pytest.mark.slow
@pytest.mark.ray
def test_the_limits_hold_on_ray_workers(
    folder: Path, undisturbed: Contents, tmp_path: Path, parsers_peak: Callable[[], int]
) -> None:
    put(folder, list(HARMS), scale=1.0)
    uri, limits = str(tmp_path / "index"), settings(seconds=12, gib=0.3)
    with ray_cluster(num_cpus=2):
        summary = index_filings([str(folder)], uri, limits)
        again = index_filings([str(folder)], uri, limits)
    assert reasons(summary) == HARMS
    assert lost(undisturbed, uri) == []
    assert parsers_peak() < 1.0 * GIB
    assert again.skipped["failed before"] == len(HARMS)
    assert again.failed == 0

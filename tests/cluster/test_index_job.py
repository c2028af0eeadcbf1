"""The index job on Ray: the same rows as without it, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import pytest

from finray.cluster import index_job
from finray.cluster.index_job import index_filings
from finray.core.errors import IndexMissingError
from finray.core.settings import Settings
from finray.index import layout, schema
from finray.index.job.in_process import index_in_process
from finray.index.job.summary import IndexProgress
from finray.index.upkeep.maintain import maintain
from finray.index.writing.writer import IndexWriter, here
from finray.storage.lance_commit import data_files
from finray.storage.s3 import s3_filesystem
from tests.cluster.nodes import cluster_of_nodes
from tools.faults.contents import Contents, read_contents
from tools.faults.processes import descendants

T = TypeVar("T")
JOB = Path(__file__).parents[2] / "jobs" / "index.py"

pytestmark = pytest.mark.ray


def job(source: str, index_uri: str, settings: Settings, **options: Any) -> subprocess.Popen[str]:
    environment = os.environ | {
        "FINRAY_ENCODER__MODEL": settings.encoder.model,
        "FINRAY_INDEX__WRITE_ROWS": str(settings.index.write_rows),
        "FINRAY_INDEX__IN_PROCESS": "false",
    }
    command = [sys.executable, str(JOB), source, "--index", index_uri, "--json"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, **options)


def committed(index_uri: str) -> int:
    """Filings that a rerun skips: they stand in the index, and that their files are done is noted too."""
    try:
        layout.read_record(index_uri)
        return int(layout.open_table(index_uri, schema.SOURCES).count_rows("filing_id IS NOT NULL"))
    except IndexMissingError:
        return 0


def test_the_rows_are_those_of_a_run_without_ray_and_a_second_run_adds_none(
    local_ray: None,
    corpus: Path,
    settings: Settings,
    expected: Contents,
    tmp_path: Path,
) -> None:
    uri = str(tmp_path / "index")
    seen: list[IndexProgress] = []
    summary = index_filings([str(corpus)], uri, settings, progress=seen.append)
    assert read_contents(uri) == expected
    assert summary.failed == len(expected["failures"])
    assert [progress.done for progress in seen] == [*range(len(seen) - 1), len(seen) - 2]
    assert summary.peak_rss_bytes > 0
    again = index_filings([str(corpus)], uri, settings)
    assert (again.indexed, again.failed, again.chunks) == (0, 0, 0)
    assert read_contents(uri) == expected


def test_killed_workers_do_not_change_the_rows(
    local_ray: None,
    corpus: Path,
    settings: Settings,
    expected: Contents,
    tmp_path: Path,
) -> None:
    killed = []

    def kill(progress: IndexProgress) -> None:
        if progress.done == 3:
            for name in ("_Embedder", "_read_and_parse", "finray.index.job.parser_process"):
                killed.extend(descendants(name)[:1])
            for process in killed:
                process.kill()

    summary = index_filings([str(corpus)], str(tmp_path / "index"), settings, progress=kill)
    assert killed
    assert read_contents(str(tmp_path / "index")) == expected
    maintain(str(tmp_path / "index"), settings)  # and what killed workers had written is gone
    for name in schema.CHILDREN:
        table = layout.open_table(str(tmp_path / "index"), name)
        files = {path.name for path in Path(table.uri, "data").iterdir()}
        assert files == set().union(*(data_files(table.checkout_version(v["version"])) for v in table.versions()))
    assert read_contents(str(tmp_path / "index")) == expected
    assert summary.failed == len(expected["failures"])


@pytest.mark.slow
@pytest.mark.parametrize("place", ["local", pytest.param("s3", marks=pytest.mark.long)])
def test_a_killed_driver_resumes_to_the_same_rows(
    place: str,
    request: pytest.FixtureRequest,
    corpus: Path,
    settings: Settings,
    tmp_path: Path,
) -> None:
    source, base = str(corpus), str(tmp_path)
    if place == "s3":
        bucket = request.getfixturevalue("s3")
        source, base = f"{bucket}/{tmp_path.name}/corpus", f"{bucket}/{tmp_path.name}"
        s3_filesystem().put(f"{corpus}/", f"{source}/", recursive=True)
    with job(source, f"{base}/whole", settings) as whole:
        summary = json.loads(whole.communicate()[0])
    assert whole.returncode == 1  # done, with failures
    assert summary["indexed"] == len(read_contents(f"{base}/whole")["filings"])

    with job(source, f"{base}/killed", settings, start_new_session=True) as killed:
        deadline = time.monotonic() + 200
        while killed.poll() is None and committed(f"{base}/killed") < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
    assert killed.returncode == -signal.SIGKILL
    with job(source, f"{base}/killed", settings) as resumed:
        rest = json.loads(resumed.communicate()[0])
    assert rest["skipped"]["unchanged"] >= 3
    assert read_contents(f"{base}/killed") == read_contents(f"{base}/whole")


@pytest.mark.slow
def test_a_lost_node_does_not_change_the_rows(
    corpus: Path,
    settings: Settings,
    expected: Contents,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost: list[Any] = []
    with cluster_of_nodes(monkeypatch, notices_loss=True, num_cpus=1) as cluster:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]

        def lose_a_node(progress: IndexProgress) -> None:
            if progress.done >= 3 and not lost:
                lost.append(nodes[0])
                cluster.remove_node(nodes[0], allow_graceful=False)

        summary = index_filings([str(corpus)], str(tmp_path / "index"), settings, progress=lose_a_node)
    assert lost
    assert read_contents(str(tmp_path / "index")) == expected
    assert summary.failed == len(expected["failures"])


def test_the_upkeep_left_by_a_killed_job_runs_on_workers(
    sample_folder: Path, local_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head has the memory to commit, not to build indexes."""
    source = [str(sorted((sample_folder / "filings").glob("*8k*"))[0])]
    index = str(tmp_path / "index")
    with monkeypatch.context() as killed:
        killed.setattr(IndexWriter, "finish", lambda self, run=here: self.flush())
        assert index_in_process(source, index, local_settings).indexed == 1
    assert "text_idx" not in _search_indexes(index)
    on_workers = []

    def workers(upkeep: Callable[[], object]) -> None:
        on_workers.append(upkeep)
        here(upkeep)

    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    monkeypatch.setattr(index_job, "ray_cluster", lambda **_: nullcontext())
    monkeypatch.setattr(index_job, "on_cluster", workers)
    again = index_filings(source, index, local_settings)
    assert (again.indexed, again.skipped) == (0, {"unchanged": 1})
    assert len(on_workers) == 1
    assert "text_idx" in _search_indexes(index)


def _search_indexes(index: str) -> set[str]:
    return {found.name for found in layout.open_table(index, schema.CHUNKS).describe_indices()}

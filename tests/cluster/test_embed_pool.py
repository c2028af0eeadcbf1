"""The embedding workers: their number and shares, and what a filing that harms them costs."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import ray

from finray.cluster.embed_pool import EmbedPool, Node, plan_pool
from finray.cluster.index_job import index_filings
from finray.cluster.node_wait import announced_wait
from finray.cluster.runtime import ray_cluster
from finray.core.errors import SettingsError
from finray.core.settings import EncoderSettings, Settings, load_settings
from finray.index.job.in_process import index_in_process
from finray.index.job.summary import IndexProgress
from finray.models.encoder import Vectors
from finray.models.hash_encoder import HashEncoder
from tests.cluster.nodes import cluster_of_nodes
from tools.faults.contents import Contents, read_contents


def pool(nodes: Sequence[Node], files: int = 10_000, **chosen: Any) -> EmbedPool:
    overrides = {name.replace("__", "."): value for name, value in chosen.items()}
    return plan_pool(list(nodes), load_settings(overrides=overrides, environment={}), files)


def test_one_worker_per_processor_or_gpu_unless_set_otherwise() -> None:
    machine, gpus = [Node(8, 0)], [Node(16, 2), Node(16, 2)]
    of = {"index_job__embed_workers_min": 1, "index_job__embed_workers_max": 12}
    sizes = {
        "machine": pool(machine),
        "few files": pool(machine, files=3),
        "gpus": pool(gpus),
        "shares": pool(gpus, index_job__gpus_per_worker="0.25"),
        "no gpus": pool(gpus, encoder__device="cpu"),
        "range": pool(machine, **of),
        "only the most": pool(machine, index_job__embed_workers_max=4),
        "only the least": pool(machine, index_job__embed_workers_min=9),
    }
    assert {name: (one.minimum, one.first, one.maximum) for name, one in sizes.items()} == {
        "machine": (8, 8, 8),
        "few files": (3, 3, 3),
        "gpus": (4, 4, 4),
        "shares": (16, 16, 16),
        "no gpus": (32, 32, 32),
        "range": (1, 8, 12),
        "only the most": (1, 4, 4),
        "only the least": (9, 9, 9),
    }
    assert [sizes[name].gpus for name in ("machine", "gpus", "shares", "no gpus")] == [0, 1, 0.25, 0]
    assert (sizes["gpus"].tokens, sizes["gpus"].filings) == (262_144, 64)
    assert (sizes["machine"].tokens, sizes["machine"].filings) == (0, 4)
    assert (pool(gpus, files=100).filings, pool(machine, files=100).filings) == (12, 1)  # small jobs finish evenly


def test_a_head_without_workers_starts_with_one_and_lets_the_autoscaler_add() -> None:
    head = [Node(0, 0)]
    waiting = pool(head, index_job__embed_workers_max=6, index_job__gpus_per_worker=0.5)
    assert (waiting.minimum, waiting.first, waiting.maximum, waiting.gpus, waiting.cpus) == (1, 1, 6, 0.5, 1.0)
    assert not waiting.fits(head[0]) and not waiting.fits(Node(16, 0)) and waiting.fits(Node(4, 1))
    assert pool(head).maximum == 1


@pytest.mark.parametrize(("nodes", "cpus"), [(1, 2), (3, 1), (2, 8), (16, 8)])
def test_shares_of_processors_add_up_and_leave_room_for_the_workers_of_a_lost_node(nodes: int, cpus: int) -> None:
    made = pool([Node(cpus, 0)] * nodes)
    assert made.maximum == nodes * cpus
    assert made.maximum * (made.cpus + made.parse_cpus + 0.1) <= nodes * cpus + 1e-6
    if nodes > 1:
        assert (nodes - 1) * int(cpus / made.cpus) >= made.maximum


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({"gpus_per_worker": "1.5"}, "gpus_per_worker"),
        ({"gpus_per_worker": "-1"}, "gpus_per_worker"),
        ({"batch_filings": "0"}, "batch_filings"),
        ({"batch_tokens": "-2"}, "batch_tokens"),
        ({"embed_workers_min": 3, "embed_workers_max": 2}, "below embed_workers_min"),
    ],
)
def test_impossible_settings_are_refused(chosen: dict[str, object], problem: str) -> None:
    overrides = {f"index_job.{name}": value for name, value in chosen.items()}
    with pytest.raises(SettingsError, match=problem):
        load_settings(overrides=overrides, environment={})


@pytest.mark.slow
def test_a_job_that_waits_for_a_node_warns(caplog: pytest.LogCaptureFixture) -> None:
    nodes = [Node(0, 0)]
    with caplog.at_level(logging.WARNING), announced_wait(pool(nodes), lambda: nodes):
        deadline = time.monotonic() + 20
        while not caplog.messages and time.monotonic() < deadline:
            time.sleep(0.05)
        nodes.append(Node(4, 0))
        while len(caplog.messages) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
    assert "waiting for a node" in caplog.messages[0] and "0.8 CPU" in caplog.messages[0]
    assert "goes on" in caplog.messages[1]


class Poisoned(HashEncoder):
    """Raises for a text with one word, and kills its process for one with another."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        if any("zzkill" in text for text in texts):
            os._exit(7)
        if any("zzraise" in text for text in texts):
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return super().encode_passages(texts)


def poisoned(settings: EncoderSettings, **_options: Any) -> Poisoned:
    return Poisoned()


@pytest.fixture
def local_ray() -> Iterator[None]:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    with ray_cluster(num_cpus=2):
        yield


@pytest.mark.ray
def test_filings_that_make_the_encoder_raise_or_die_fail_alone(
    local_ray: None, corpus: Path, settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "corpus"
    shutil.copytree(corpus, folder)
    pages = sorted(path for path in folder.glob("*.htm*") if b"</body>" in path.read_bytes())
    words = {pages[0]: b"zzraise", pages[-1]: b"zzkill"}
    honest = tmp_path / "honest"
    shutil.copytree(folder, honest)
    for path, word in words.items():
        (honest / path.name).unlink()
        path.write_bytes(path.read_bytes().replace(b"</body>", b"<p>" + word + b"</p></body>"))
    index_in_process([str(honest)], str(tmp_path / "expected"), settings)
    together = settings.model_copy(
        update={
            "index_job": settings.index_job.model_copy(
                update={"batch_tokens": 20_000, "batch_filings": 6, "fixed_shapes": True}
            )
        }
    )
    summary = index_filings([str(folder)], str(tmp_path / "index"), together, load=poisoned)
    found = {Path(one.source_uri).name: (one.stage, one.reason) for one in summary.failures if one.stage == "embed"}
    assert found == {pages[0].name: ("embed", "encoder_error"), pages[-1].name: ("embed", "crashed")}
    made, expected = read_contents(str(tmp_path / "index")), read_contents(str(tmp_path / "expected"))
    for table in ("filings", "pages", "chunks", "facts"):
        assert made[table] == expected[table]
    again = index_filings([str(folder)], str(tmp_path / "index"), settings, retry_failed=True)  # a better encoder
    assert again.indexed == 2
    assert read_contents(str(tmp_path / "index"))["failures"] == expected["failures"]


@pytest.mark.ray
@pytest.mark.slow
def test_a_job_on_a_head_without_workers_warns_and_starts_with_the_first_node(
    corpus: Path,
    settings: Settings,
    expected: Contents,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    grows = settings.index_job.model_copy(update={"embed_workers_max": 2})
    chosen = settings.model_copy(update={"index_job": grows})
    # Nodes start in the main thread only.
    with cluster_of_nodes(monkeypatch, num_cpus=0) as cluster, ThreadPoolExecutor(1) as threads:
        job = threads.submit(index_filings, [str(corpus)], str(tmp_path / "index"), chosen)
        deadline = time.monotonic() + 100
        while "waiting for a node" not in caplog.text and not job.done() and time.monotonic() < deadline:
            time.sleep(0.2)
        cluster.add_node(num_cpus=2)
        summary = job.result()
    assert "waiting for a node (0 s so far): none of the cluster has the 0.8 CPU" in caplog.text
    assert summary.failed == len(expected["failures"])
    assert read_contents(str(tmp_path / "index")) == expected


@pytest.mark.ray
@pytest.mark.slow
def test_workers_share_a_gpu_and_encode_filings_together(
    corpus: Path, settings: Settings, expected: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray assigns GPUs that it is told of; the encoder without weights needs none."""
    halves = settings.index_job.model_copy(update={"gpus_per_worker": 0.5})
    chosen = settings.model_copy(update={"index_job": halves})
    free_gpus: list[float] = []

    def look(_progress: IndexProgress) -> None:
        resources: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
        free_gpus.append(resources.get("GPU", 0.0))

    with cluster_of_nodes(monkeypatch, num_cpus=4, num_gpus=1):
        index_filings([str(corpus)], str(tmp_path / "index"), chosen, progress=look)
    assert min(free_gpus) == 0.0  # two workers
    assert read_contents(str(tmp_path / "index")) == expected

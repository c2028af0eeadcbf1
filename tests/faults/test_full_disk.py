"""A full disk: one line names the location, nothing is left half written, and a rerun gives the same result."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from finray.cluster.watch import watch_room
from finray.core.errors import SourceError
from finray.core.settings import Settings, load_settings
from finray.index.job.in_process import index_in_process
from finray.index.job.parser_process import ParserProcess
from finray.index.reading.reader import IndexReader
from finray.index.upkeep.check import check_index
from finray.lab.sample.generate import generate_sample
from finray.models.encoder_loading import load_encoder
from tests.faults.commands import run
from tools.faults.contents import Contents, differences, read_contents
from tools.faults.state import read_state, state_differences, texts_of
from tools.faults.world import Operation, Place, World

KIB = 1024


@dataclass(frozen=True)
class SmallDisk:
    """A file system of a few KiB at ``path``."""

    path: Path

    def resize(self, kib: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={kib}k", str(self.path)], check=True, capture_output=True)

    @property
    def used_kib(self) -> int:
        stat = os.statvfs(self.path)
        return (stat.f_blocks - stat.f_bfree) * stat.f_frsize // KIB

    def leave(self, kib: int) -> None:
        """Leave exactly this much free space, or 4 KiB in total: tmpfs treats a size of 0 as unlimited."""
        self.resize(max(4, self.used_kib + kib))

    def make_room(self) -> None:
        self.resize(64 * KIB)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={64 * KIB}k", "tmpfs", str(path)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield SmallDisk(path)
    subprocess.run(["umount", "-l", str(path)], check=True)


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load_settings(overrides={"encoder.model": "hash", "index.write_rows": 40}, environment={})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    generate_sample(folder, companies=1, years=1, seed=5, formats=("html",), questions=1, workers=1)
    return folder / "filings"


@pytest.fixture(scope="module")
def index_into(corpus: Path, settings: Settings) -> Iterator[Callable[[str], object]]:
    """Indexes the corpus, as a new job would."""
    encoder, parser = load_encoder(settings.encoder), ParserProcess(settings.filings, settings.chunks)
    yield lambda uri: index_in_process([str(corpus)], uri, settings, encoder=encoder, parser=parser)
    parser.close()


@pytest.fixture(scope="module")
def expected(index_into: Callable[[str], object], tmp_path_factory: pytest.TempPathFactory) -> Contents:
    uri = str(tmp_path_factory.mktemp("expected") / "index")
    index_into(uri)
    return read_contents(uri)


@pytest.mark.slow
def test_an_index_job_resumes_after_a_full_disk(
    disk: SmallDisk, index_into: Callable[[str], object], expected: Contents
) -> None:
    """At every moment of the job: each attempt has a little more space and writes a little more."""
    index, full = str(disk.path / "index"), 0
    while True:
        disk.leave(8 + 12 * full)
        try:
            index_into(index)
            break
        except SourceError as error:
            assert str(error).startswith(f"cannot write '{index}") and "Make room" in str(error)
        full += 1
    assert full > 5
    assert differences(expected, read_contents(index)) == []
    disk.make_room()
    index_into(index)
    assert differences(expected, read_contents(index)) == []
    assert check_index(index, deep=True) == []


@pytest.mark.slow
def test_a_reader_continues_while_the_disk_is_full(
    disk: SmallDisk, index_into: Callable[[str], object], expected: Contents, corpus: Path, settings: Settings
) -> None:
    index = str(disk.path / "index")
    some = [str(path) for path in sorted(corpus.iterdir())[:3]]
    index_in_process(some, index, settings)
    before = texts_of(IndexReader.open(index))
    disk.leave(60)
    with pytest.raises(SourceError, match="Make room"):
        index_into(index)
    after = texts_of(IndexReader.open(index))  # which asserts that no filing is half there
    assert before.items() <= after.items()
    disk.make_room()
    index_into(index)
    assert differences(expected, read_contents(index)) == []


@pytest.mark.slow
def test_commands_name_the_full_disk_and_a_rerun_gives_the_same_result(
    disk: SmallDisk, world: World, tmp_path: Path
) -> None:
    """Raw store, ledger, index and predictions on one small disk."""
    quiet, full = Place(str(tmp_path / "quiet"), tmp_path / "a"), Place(str(disk.path), tmp_path / "b")
    jobs: list[Operation] = ["sync", "answer"]
    for operation in jobs:
        assert run(operation, world, quiet).code == 0
    for room, where in ((8, full.raw), (700, full.index)):
        disk.leave(room)
        error = run("sync", world, full).error
        assert where in error and "No space left on device" in error and "ake room" in error
    disk.make_room()
    assert run("sync", world, full).code == 0
    disk.leave(4)
    error = run("answer", world, full).error
    assert full.predictions in error and "Make room" in error
    disk.make_room()
    assert run("answer", world, full).code == 0
    assert run("check", world, full).code == 0
    assert state_differences(read_state(quiet), read_state(full)) == []


@pytest.mark.slow
def test_the_error_names_a_full_temporary_folder(
    disk: SmallDisk, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of partial downloads, and the one where predictions are sorted."""
    place = Place(str(tmp_path / "place"), tmp_path / "scratch")
    monkeypatch.setenv("FINRAY_EDGAR__SCRATCH", str(disk.path / "downloads"))
    disk.leave(8)
    assert (
        f"cannot write '{disk.path / 'downloads'}', the folder for partial downloads" in run("sync", world, place).error
    )
    disk.make_room()
    assert run("sync", world, place).code == 0
    assert run("answer", world, place).code == 0
    before = Path(place.predictions).read_bytes()
    Path(place.predictions).write_bytes(b"".join(reversed(before.splitlines(keepends=True))))
    disk.leave(0)
    monkeypatch.setattr(tempfile, "tempdir", str(disk.path))
    assert f"cannot write '{disk.path}'" in run("answer", world, place).error
    monkeypatch.undo()
    assert run("answer", world, place).code == 0
    assert Path(place.predictions).read_bytes() == before


def test_a_job_reports_that_its_ray_has_no_disk_space(disk: SmallDisk) -> None:
    """Without the check, Ray would start workers that cannot write their logs forever."""
    disk.leave(0)
    error = watch_room(disk.path, 1.0, threading.Event())
    assert error and f"no space left on device for Ray: '{disk.path}'" in error

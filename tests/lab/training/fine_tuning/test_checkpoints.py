from __future__ import annotations

from pathlib import Path

import pytest

from finray.core.errors import UsageError
from finray.lab.training.fine_tuning.checkpoints import RECORD, RunFolder

IDENTITY = {"kind": "reranker", "learning_rate": 2e-5}


def checkpoint(folder: RunFolder, step: int) -> Path:
    path = folder.checkpoints / f"checkpoint-{step}"
    path.mkdir(parents=True)
    return path


def test_the_newest_complete_checkpoint_is_used_and_incomplete_ones_are_removed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "out")
    assert folder.last() is None
    for step in (8, 16, 100):
        checkpoint(folder, step)
    folder.mark_complete(8)
    folder.mark_complete(16)
    folder.begin(IDENTITY)
    assert folder.last() == folder.checkpoints / "checkpoint-16"
    assert sorted(p.name for p in folder.checkpoints.glob("checkpoint-*")) == ["checkpoint-16", "checkpoint-8"]


def test_a_finished_run_is_recognized_and_leaves_no_checkpoints(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "out")
    folder.begin(IDENTITY)
    assert folder.finished(IDENTITY) is None
    checkpoint(folder, 8)
    folder.finish({"identity": IDENTITY, "examples": 3})
    assert folder.finished(IDENTITY) == {"identity": IDENTITY, "examples": 3}
    assert [path.name for path in folder.path.iterdir()] == [RECORD]


@pytest.mark.parametrize("finished", [False, True])
def test_another_run_in_the_folder_is_an_error(tmp_path: Path, finished: bool) -> None:
    folder = RunFolder(tmp_path / "out")
    folder.begin(IDENTITY)
    if finished:
        folder.finish({"identity": IDENTITY})
    with pytest.raises(UsageError, match=r"learning_rate 2e-05 there, 0\.001 now"):
        folder.finished(IDENTITY | {"learning_rate": 1e-3})


def test_a_model_from_elsewhere_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="a model that this command did not train"):
        RunFolder(tmp_path).finished(IDENTITY)


def test_a_damaged_record_is_an_error(tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text("{")
    with pytest.raises(UsageError, match="is damaged"):
        RunFolder(tmp_path).finished(IDENTITY)


def test_a_read_only_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write to"):
        RunFolder(tmp_path / "file" / "out").begin(IDENTITY)

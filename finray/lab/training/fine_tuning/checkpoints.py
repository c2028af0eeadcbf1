"""The folder of a training run: its identity, its checkpoints, and its final record.

    OUT/                 the model, once training is done
    OUT/training.json    written last: data, hyperparameters, seed, versions, held-out figures
    OUT/checkpoints/     during training: run.json and checkpoint-<step>/, each with a file ``complete``

A process killed while it writes a checkpoint leaves one without ``complete``; the next run removes it and resumes from
the previous one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finray.core.errors import UsageError
from finray.storage.atomic import replacing

RECORD = "training.json"
_RUN = "run.json"
_COMPLETE = "complete"
_PREFIX = "checkpoint-"


class RunFolder:
    """The run in ``path``, a local folder that all processes of the run share."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"

    def finished(self, identity: Mapping[str, Any]) -> dict[str, Any] | None:
        """The record of this run if it is finished.

        Raises UsageError if the folder holds a run with other data or arguments, or another model.
        """
        record = _read(self.path / RECORD)
        if record is not None:
            self._check_same(record.get("identity", {}), identity)
            return record
        run = _read(self.checkpoints / _RUN)
        if run is not None:
            self._check_same(run, identity)
        elif (self.path / "config.json").exists():
            raise UsageError(f"{str(self.path)!r} holds a model that this command did not train; name another folder")
        return None

    def begin(self, identity: Mapping[str, Any]) -> None:
        """Record the identity of the run, and remove incomplete checkpoints. Raises UsageError."""
        try:
            write_json(self.checkpoints / _RUN, identity)
            for folder in self.checkpoints.glob(f"{_PREFIX}*"):
                if not (folder / _COMPLETE).exists():
                    shutil.rmtree(folder)
        except OSError as error:
            raise UsageError(f"cannot write to {str(self.path)!r}: {error}") from error

    def last(self) -> Path | None:
        """The newest complete checkpoint."""
        folders = [folder for folder in self.checkpoints.glob(f"{_PREFIX}*") if (folder / _COMPLETE).exists()]
        return max(folders, key=_step, default=None)

    def mark_complete(self, step: int) -> None:
        (self.checkpoints / f"{_PREFIX}{step}" / _COMPLETE).touch()

    def finish(self, record: Mapping[str, Any]) -> None:
        """Store the record, then delete the checkpoints."""
        write_json(self.path / RECORD, record)
        shutil.rmtree(self.checkpoints, ignore_errors=True)

    def _check_same(self, stored: Mapping[str, Any], current: Mapping[str, Any]) -> None:
        plain = json.loads(json.dumps(current))
        different = [
            f"{name} {stored.get(name)!r} there, {plain.get(name)!r} now"
            for name in sorted({*stored, *plain})
            if stored.get(name) != plain.get(name)
        ]
        if different:
            raise UsageError(
                f"{str(self.path)!r} holds another run ({'; '.join(different)}); name another folder, or remove it"
            )


def _step(folder: Path) -> int:
    return int(folder.name.removeprefix(_PREFIX))


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write ``value`` to ``path`` in one step: a killed process leaves the old file or the new one."""
    with replacing(path) as scratch:
        scratch.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _read(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{str(path)!r} is damaged: {error}; remove it to train again") from error
    if not isinstance(value, dict):
        raise UsageError(f"{str(path)!r} is damaged: not an object; remove it to train again")
    return value

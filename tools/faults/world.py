"""A small world for fault tests: a local EDGAR, and finray's raw store, index and predictions.

One place, on disk or S3, holds the raw store, the index and the predictions. It is restored from a saved copy for each
cycle, always under the same URIs, because the index stores them.
"""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from finray.core.settings import Settings, load_settings
from finray.lab.sample.edgar import Submission, form_index, sample_submissions, write_edgar
from finray.lab.sample.generate import generate_sample
from finray.storage.locations import is_s3, join
from finray.storage.s3 import s3_filesystem
from tools.faults.edgar import LocalEdgar

Change = Literal["nothing", "new", "corrected", "deleted", "all"]
CHANGES: Final[tuple[Change, ...]] = ("nothing", "new", "corrected", "deleted", "all")
SINCE, UNTIL = dt.date(2023, 1, 2), dt.date(2024, 3, 20)
CONTACT: Final = "Finray Faults filings@finray.test"
_SEED = 3
_QUESTIONS = 6
_OVERRIDES: Final[Mapping[str, str]] = {
    "encoder.model": "hash",
    "index.in_process": "true",
    "index.write_rows": "40",  # a commit every two or three filings, to interrupt jobs between commits
    "bulk.flush_seconds": "0.05",
    "edgar.contact": CONTACT,
    "edgar.requests_per_second": "500",
    "edgar.retry_wait_s": "0.01",
    "edgar.blocked_pause_s": "0.3",
    "edgar.attempts": "3",
    "edgar.timeout_s": "5",
}
_KEPT_BY_LIBRARIES: Final = frozenset({".ses"})
"""A session file of onnxruntime, shared by its processes."""
Saved = dict[str, bytes]
"""A copy of a place: path -> content."""


@dataclass(frozen=True, slots=True)
class Place:
    """The location of one world. ``uri`` is a folder or s3:// prefix; ``scratch`` is a local folder for temporary files
    and, on S3, partial downloads."""

    uri: str
    scratch: Path

    @property
    def raw(self) -> str:
        return join(self.uri, "raw")

    @property
    def index(self) -> str:
        return join(self.uri, "index")

    @property
    def predictions(self) -> str:
        return join(self.uri, "out", "predictions.jsonl")

    def clear(self) -> None:
        self.restore({})

    def save(self) -> Saved:
        if is_s3(self.uri):
            s3 = s3_filesystem()
            prefix = self.uri.removeprefix("s3://") + "/"
            return {str(path).removeprefix(prefix): s3.cat_file(path) for path in s3.find(self.uri)}
        root = Path(self.uri)
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    def restore(self, saved: Saved) -> None:
        """Restore exactly the saved files."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        if is_s3(self.uri):
            s3 = s3_filesystem()
            if present := s3.find(self.uri):
                s3.rm(present)
            for path, content in saved.items():
                s3.pipe_file(join(self.uri, path), content)
            return
        shutil.rmtree(self.uri, ignore_errors=True)
        for path, content in saved.items():
            file = Path(self.uri, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    def age(self) -> None:
        """Make leftover temporary files look days old."""
        folders = [self.scratch] if is_s3(self.uri) else [self.scratch, Path(self.uri)]
        for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
            if _is_temporary(str(path)):
                os.utime(path, (0, 0))

    def left_over(self) -> list[str]:
        """Temporary files, which should exist only during a run."""
        partial = [path for path in self.save() if _is_temporary(path)]
        scratch = (path for path in self.scratch.rglob("*") if path.is_file() and path.name not in _KEPT_BY_LIBRARIES)
        return partial + [str(path) for path in scratch]


@dataclass(frozen=True, slots=True)
class World:
    """``base`` has EDGAR's filings before a change, ``submissions`` those after each change."""

    folder: Path
    edgar: LocalEdgar
    base: tuple[Submission, ...]
    submissions: Mapping[Change, tuple[Submission, ...]]
    questions: Path

    def publish(self, submissions: Sequence[Submission]) -> None:
        """Replace EDGAR's filings."""
        name = hashlib.sha256(b"".join(s.content for s in submissions)).hexdigest()[:16]
        folder = self.folder / "edgar" / name
        if not folder.exists():
            write_edgar(folder, submissions, feed=False)
            _finish_quarters(folder / "Archives", submissions)
        self.edgar.folder = folder
        self.edgar.faults.clear()

    def settings(self) -> Settings:
        return load_settings(overrides=_OVERRIDES, environment={})


def make_world(folder: Path, edgar: LocalEdgar) -> World:
    """Six filings of a fictional company, four of them in ``base``, and questions about them."""
    everything = sample_submissions(1, 1, _SEED)
    base, later = tuple(everything[:4]), tuple(everything[4:6])
    wrong, gone = base[1], base[2]
    fixed = corrected(wrong)
    submissions: dict[Change, tuple[Submission, ...]] = {
        "nothing": base,
        "new": (*base, *later),
        "corrected": tuple(fixed if s is wrong else s for s in base),
        "deleted": tuple(s for s in base if s is not gone),
        "all": tuple(fixed if s is wrong else s for s in (*base, *later) if s is not gone),
    }
    generate_sample(folder / "sample", companies=1, years=1, seed=_SEED, formats=("txt",), questions=_QUESTIONS)
    return World(folder, edgar, base, submissions, folder / "sample" / "questions.jsonl")


def corrected(submission: Submission) -> Submission:
    """The same filing after a correction on EDGAR: another form in index and header, and a note in the text."""
    form = "8-K" if submission.form != "8-K" else "10-Q"
    header = f"SUBMISSION TYPE:\t{submission.form}".encode(), f"SUBMISSION TYPE:\t{form}".encode()
    content = submission.content.replace(*header).replace(
        b"<TYPE>" + submission.form.encode(), b"<TYPE>" + form.encode()
    )
    return replace(submission, form=form, content=content.replace(b"</body>", b"<p>Corrected by EDGAR.</p></body>"))


def options() -> list[str]:
    """The settings of this world as command-line options."""
    return [part for name, value in _OVERRIDES.items() for part in ("--set", f"{name}={value}")]


Operation = Literal["sync", "index", "answer", "maintain", "repair", "check"]


def command(operation: Operation, world: World, place: Place) -> list[str]:
    """The arguments of ``finray`` for an operation at a place."""
    raw, index = ["--raw", place.raw], ["--index", place.index]
    scratch = ["--set", f"edgar.scratch={place.scratch / 'partial'}"] if is_s3(place.uri) else []
    arguments = {
        "sync": ["sync", *raw, *index, "--since", str(SINCE), "--until", str(UNTIL), "--recheck", *scratch],
        "index": ["index", join(place.raw, "filings"), *index],
        "answer": ["answer", str(world.questions), *index, "--out", place.predictions, "--workers", "0"],
        "maintain": ["maintain", *index],
        "repair": ["check", *raw, *index, "--deep", "--repair"],
        "check": ["check", *raw, *index, "--deep"],
    }
    return [*arguments[operation], *options()]


def plain_json(content: bytes) -> str:
    """The ``.json`` of a raw filing, without the time and source of the download."""
    values = json.loads(content)
    return json.dumps({name: value for name, value in values.items() if name not in ("fetched_at", "source", "url")})


def _finish_quarters(archives: Path, submissions: Sequence[Submission]) -> None:
    """Add the index of every quarter, as EDGAR has it even without filings. Each is dated after the last filing, so a
    filing missing from it counts as deleted."""
    for year, quarter in ((2023, 1), (2023, 2), (2023, 3), (2023, 4), (2024, 1)):
        folder = archives / f"edgar/full-index/{year}/QTR{quarter}"
        last = min(dt.date(year + quarter // 4, quarter % 4 * 3 + 1, 1) - dt.timedelta(days=1), UNTIL)
        index = form_index(s for s in submissions if (s.filed_at.year, (s.filed_at.month + 2) // 3) == (year, quarter))
        index = re.sub(rb"(Last Data Received:    ).*", rf"\g<1>{last:%b %d, %Y}".encode(), index)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "form.idx").write_bytes(index)
        (folder / "form.gz").write_bytes(gzip.compress(index, mtime=0))


def _is_temporary(path: str) -> bool:
    name = path.rpartition("/")[2]
    return ".partial/" in path or name.endswith((".tmp", ".part")) or ".parts/" in path

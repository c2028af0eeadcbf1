"""Runs one disturbed operation while a reader watches the index."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from finray.index.reading.reader import IndexReader
from finray.storage.locations import is_s3
from tools.faults.commands import Command, Ended
from tools.faults.damage import HOWS, damage, stored_files
from tools.faults.edgar import BLOCKED, BUSY, Fault, LocalEdgar
from tools.faults.plan import Step
from tools.faults.s3 import FaultyS3, S3Fault, bad_day
from tools.faults.state import Texts, open_reader, texts_of
from tools.faults.world import Operation, Place, World, command

_LOOK_EVERY = 0.05
_LOOK_EVERY_ON_S3 = 0.3
_COULD_NOT = 2
_START_AGAIN = "index the sources again"
"""Part of finray's message for an index that cannot be repaired."""
_SHOWN_LINES = 8
"""Last lines of a command's output to show; the rest is in its log."""
_FIRST_GUESS = 2.0
"""Assumed seconds of an operation before it was measured."""


@dataclass
class Stage:
    """The environment of a cycle and its results so far. ``usual`` has the typical seconds of operations."""

    world: World
    place: Place
    logs: Path
    environment: Mapping[str, str]
    usual: dict[str, float]
    proxy: FaultyS3 | None = None
    said: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Violations, one line each."""
    _number: int = 0

    def start(self, operation: Operation) -> Command:
        self._number += 1
        log = self.logs / f"{self._number:02d}-{operation}.log"
        return Command(command(operation, self.world, self.place), self.environment, log)

    def undisturbed(self, operation: Operation) -> None:
        """Run an operation that must succeed."""
        ended = self.start(operation).wait()
        self._learn(operation, ended)
        if ended.code != 0:
            self.broken.append(f"undisturbed {operation} ended with {ended.code}: {_last_lines(ended)}")

    def ended(self, operation: Operation, ended: Ended) -> None:
        self.said.append(f"{operation} {'killed' if ended.killed else f'exit {ended.code}'}")
        self._learn(operation, ended)
        if ended.crashed:
            self.broken.append(f"{operation} ended with an unexpected error: {_last_lines(ended)}")

    def _learn(self, operation: Operation, ended: Ended) -> None:
        if not ended.killed:
            self.usual[operation] = 0.6 * self.usual.get(operation, ended.seconds) + 0.4 * ended.seconds


def disturbed(stage: Stage, step: Step, chance: random.Random, known: Texts) -> None:
    """Do ``step``. Violations go into ``stage.broken``, outcomes into ``stage.said``."""
    if step.operation == "answer" or step.second == "answer" or "damage" in step.kinds:
        # An unfinished index gives other answers, and damage needs files.
        stage.undisturbed("sync")
    if "damage" in step.kinds:
        _damage(stage, step, chance)
        return
    if "edgar" in step.kinds:
        edgar_trouble(stage.world.edgar, chance)
    with _s3_trouble(stage, step, chance), watched(stage, known):
        commands = [(step.operation, stage.start(step.operation))]
        if step.second:
            time.sleep(chance.random() * 0.5)
            commands.append((step.second, stage.start(step.second)))
        if "kill" in step.kinds:
            _kill(stage, *chance.choice(commands), chance)
        for operation, running in commands:
            stage.ended(operation, running.wait())
            if left := running.left_running():
                stage.broken.append(f"{operation}: processes {left} still run after it has ended")
    stage.world.edgar.faults.clear()


def edgar_trouble(edgar: LocalEdgar, chance: random.Random) -> None:
    """Make a few of EDGAR's files fail: errors, truncated or slow replies, other pages."""
    paths = sorted(
        str(path.relative_to(edgar.folder / "Archives"))
        for path in (edgar.folder / "Archives").rglob("*")
        if path.is_file()
    )
    for path in chance.sample(paths, chance.randint(1, min(6, len(paths)))):
        fault = chance.choice(
            [
                BUSY,
                BLOCKED,
                Fault(429, b"", headers=(("Retry-After", "1"),)),
                Fault(200, b"<html><body>This page is not available.</body></html>"),
                Fault(cut_after=chance.randrange(20_000)),
                Fault(cut_after=chance.randrange(20_000), cut_silently=True),
                Fault(piece_seconds=0.003),
            ]
        )
        edgar.fail(path, *[fault] * chance.randint(1, 4))


@contextmanager
def _s3_trouble(stage: Stage, step: Step, chance: random.Random) -> Iterator[None]:
    if stage.proxy is None or "s3" not in step.kinds:
        yield
        return
    outage = [S3Fault("error", skip=chance.randrange(200), times=chance.randrange(60))]
    stage.proxy.fail(*(outage if chance.random() < 0.2 else bad_day(chance.choice([0.02, 0.05, 0.2]))))
    try:
        yield
    finally:
        stage.proxy.fail()


def _kill(stage: Stage, operation: Operation, running: Command, chance: random.Random) -> None:
    # Prefer early moments: an operation with little to do ends before the usual time.
    moment = time.monotonic() + chance.random() ** 1.7 * stage.usual.get(operation, _FIRST_GUESS)
    while time.monotonic() < moment and running.running():
        time.sleep(0.005)
    running.kill()


def _damage(stage: Stage, step: Step, chance: random.Random) -> None:
    """Damage files, run an operation that may be refused, and repair."""
    index, filings = Path(stage.place.index), Path(stage.place.raw, "filings")
    files = [file for folder in (index, filings) for file in stored_files(folder) if file.live]
    for file in chance.sample(files, chance.randint(1, 2)):
        if file.path.stat().st_size:
            stage.said.append(str(damage(file, chance.choice(HOWS), chance)))
    if step.operation != "answer":  # answers from a damaged index cannot be compared
        stage.ended(step.operation, stage.start(step.operation).wait())
    repaired = stage.start("repair").wait()
    stage.ended("repair", repaired)
    if repaired.code == _COULD_NOT and _START_AGAIN in repaired.said:
        shutil.rmtree(stage.place.index)  # follow the message: index again, here at the same location
        stage.said.append("the index was deleted, to be built again")


@contextmanager
def watched(stage: Stage, known: Texts) -> Iterator[None]:
    """Open the index repeatedly inside the block: readers must see only rows that a complete run wrote, and a reader
    opened at the start must read the same at the end."""
    done = threading.Event()
    first = open_reader(stage.place)
    before = _seen(stage, first, "before")

    def look() -> None:
        while not done.wait(_LOOK_EVERY_ON_S3 if is_s3(stage.place.uri) else _LOOK_EVERY):
            try:
                reader = open_reader(stage.place)
                seen = texts_of(reader) if reader else {}
            except AssertionError as error:
                stage.broken.append(f"a reader saw {error}")
                return
            strange = {key: digest for key, digest in seen.items() if known.get(key) != digest}
            if strange:
                stage.broken.append(f"a reader saw rows that no complete run wrote: {strange}")
                return

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
    _seen(stage, open_reader(stage.place), "after")
    if _seen(stage, first, "from the start") != before:
        stage.broken.append("a reader opened at the start reads something else at the end")


def _last_lines(ended: Ended) -> str:
    return "\n      ".join(["", *ended.said.strip().splitlines()[-_SHOWN_LINES:]])


def _seen(stage: Stage, reader: IndexReader | None, when: str) -> Texts:
    try:
        return texts_of(reader) if reader else {}
    except AssertionError as error:
        stage.broken.append(f"a reader {when} saw {error}")
        return {}

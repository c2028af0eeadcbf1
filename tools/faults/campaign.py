"""Runs cycles of faults on the small world and compares each with the result of an undisturbed run."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.faults.commands import start_server
from tools.faults.disturb import Stage, disturbed
from tools.faults.edgar import LocalEdgar
from tools.faults.plan import KINDS, Kind, Plan, draw
from tools.faults.s3 import FaultyS3
from tools.faults.state import State, read_state, state_differences
from tools.faults.world import Change, Operation, Place, Saved, World, make_world

_BUCKET = "faults"
_S3_KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
_FINISH: tuple[Operation, ...] = ("sync", "answer", "check")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one cycle. ``said`` lists how the disturbed operations ended, ``broken`` the violations, empty if
    the cycle survived."""

    seed: int
    plan: str
    steps: tuple[tuple[str, str], ...]
    """(fault, operation) of each step."""
    said: tuple[str, ...]
    broken: tuple[str, ...]
    seconds: float


class Campaign:
    """Runs cycles in ``folder``; all processes and servers end with the block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._edgar = LocalEdgar(folder)
        self._usual: dict[str, float] = {}
        self._saved: dict[bool, Saved] = {}
        self._expected: dict[tuple[bool, bool, Change], State] = {}
        self._moto: Any = None
        self._proxy: FaultyS3 | None = None

    def __enter__(self) -> Campaign:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        address = self._edgar.start()
        self.world: World = make_world(self._folder, self._edgar)
        start_server(
            {
                "EDGAR_BASE_URL": address,
                "EDGAR_DATA_URL": address,
                "EDGAR_LOCAL_DATA_DIR": str(self._folder / "edgartools"),
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
                "COLUMNS": "200",
            }
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._edgar.stop()
        if self._proxy is not None:
            self._proxy.stop()
        if self._moto is not None:
            self._moto.stop()

    def cycle(self, plan: Plan) -> Result:
        """Disturb, finish undisturbed, compare."""
        started = time.monotonic()
        expected = self._reference(plan.on_s3, plan.fresh, plan.change)
        known = {**self._reference(plan.on_s3, plan.fresh, "nothing").texts, **expected.texts}
        stage = self._stage(plan.on_s3, f"cycle-{plan.seed}")
        stage.place.restore({} if plan.fresh else self._base(plan.on_s3))
        self.world.publish(self.world.submissions[plan.change])
        chance = random.Random(f"{plan.seed}:faults")
        for step in plan.steps:
            disturbed(stage, step, chance, known)
        stage.place.age()
        for operation in _FINISH:
            stage.undisturbed(operation)
        stage.broken += [f"left over: {path}" for path in stage.place.left_over()]
        if not any("undisturbed" in line for line in stage.broken):
            stage.broken += state_differences(expected, read_state(stage.place))
        if not stage.broken:
            shutil.rmtree(stage.logs)
        steps = tuple((step.fault, step.operation) for step in plan.steps)
        seconds = time.monotonic() - started
        return Result(plan.seed, str(plan), steps, tuple(stage.said), tuple(stage.broken), seconds)

    def _stage(self, on_s3: bool, name: str) -> Stage:
        logs = self._folder / "logs" / name
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        scratch = self._folder / "scratch"
        place = Place(f"s3://{_BUCKET}/world" if on_s3 else str(self._folder / "world"), scratch)
        environment = {"TMPDIR": str(scratch), "RAY_ADDRESS": ""}
        if on_s3:
            environment |= {**_S3_KEYS, "AWS_ENDPOINT_URL": self._s3().url}
        return Stage(self.world, place, logs, environment, self._usual, self._proxy if on_s3 else None)

    def _s3(self) -> FaultyS3:
        """The faulty proxy of a working S3; this process uses the working one directly."""
        if self._proxy is None:
            from moto.server import ThreadedMotoServer

            from finray.storage.s3 import s3_filesystem

            logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request otherwise
            self._moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
            self._moto.start()
            host, port = self._moto.get_host_and_port()
            os.environ.update({**_S3_KEYS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"})
            s3_filesystem().mkdir(f"s3://{_BUCKET}")
            self._proxy = FaultyS3(f"http://{host}:{port}").start()
        return self._proxy

    def _base(self, on_s3: bool) -> Saved:
        """A finished world before the change."""
        if on_s3 not in self._saved:
            self._reference(on_s3, True, "nothing")
        return self._saved[on_s3]

    def _reference(self, on_s3: bool, fresh: bool, change: Change) -> State:
        """The end state of an undisturbed run."""
        key = (on_s3, fresh or change == "nothing", change)
        if key not in self._expected:
            stage = self._stage(on_s3, f"reference-{on_s3}-{fresh}-{change}")
            stage.place.restore({} if key[1] else self._base(on_s3))
            self.world.publish(self.world.submissions[change])
            for operation in _FINISH:
                stage.undisturbed(operation)
            if stage.broken:
                raise RuntimeError("an undisturbed run fails:\n" + "\n".join(stage.broken))
            self._expected[key] = read_state(stage.place)
            if key[1] and change == "nothing":
                self._saved[on_s3] = {
                    path: content for path, content in stage.place.save().items() if not path.startswith("out/")
                }
        return self._expected[key]


@contextmanager
def _appending(path: Path | None) -> Iterator[Callable[[Result], None]]:
    if path is None:
        yield lambda _: None
        return
    with path.open("a", encoding="utf-8") as file:

        def write(result: Result) -> None:
            file.write(json.dumps(asdict(result)) + "\n")
            file.flush()

        yield write


def run_campaign(
    folder: Path,
    *,
    seeds: Collection[int],
    only: Collection[Kind] = KINDS,
    kept: Path | None = None,
    keep_going: bool = False,
    report: Callable[[Result], None],
) -> list[Result]:
    """Run a cycle for each of ``seeds`` without a result in the file ``kept``. Stops at the first that did not survive,
    unless ``keep_going``."""
    done = {result.seed: result for result in read_results(kept)} if kept else {}
    results = [done[seed] for seed in seeds if seed in done]
    with Campaign(folder) as campaign, _appending(kept) as keep:
        for seed in seeds:
            if seed in done:
                continue
            result = campaign.cycle(draw(seed, only))
            results.append(result)
            report(result)
            keep(result)
            if result.broken and not keep_going:
                break
    return results


def read_results(path: Path) -> list[Result]:
    if not path.exists():
        return []
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [_result(values) for values in lines]


def table(results: Collection[Result]) -> list[str]:
    """A Markdown table with the number of times that each fault hit each operation."""
    counts = Counter(step for result in results for step in result.steps)
    operations = sorted({operation for _, operation in counts})
    lines = [f"| fault | {' | '.join(operations)} | together |", f"|---|{'---:|' * (len(operations) + 1)}"]
    for fault in sorted({fault for fault, _ in counts}, key=lambda f: (f.count("+"), f)):
        row = [counts[fault, operation] for operation in operations]
        lines.append(f"| {fault} | {' | '.join(f'{n or chr(8211)}' for n in row)} | {sum(row)} |")
    return lines


def _result(values: Mapping[str, Any]) -> Result:
    steps = tuple((fault, operation) for fault, operation in values["steps"])
    return Result(**{**values, "steps": steps, "said": tuple(values["said"]), "broken": tuple(values["broken"])})

"""The HTTP service under load: throughput, latency and errors with 16, 64 and 256 clients, and the overhead of Serve.

    python benchmarks/serve_load.py --index INDEX QUESTIONS.jsonl [--seconds 30] [--clients 16 64 256]

Starts ``finray serve`` on this machine, without rate limits for its key and with the default ``max_in_flight``. First,
one client asks every question in turn, once in this process and once over HTTP. The overhead of HTTP and Serve is the
client's time minus the engine's time in the reply. Then several clients ask concurrently, each its next question after
a reply; a refused client (429) waits for ``Retry-After``. Clients start one by one within ``--ramp`` seconds, like
independent ones; with 0, all start at once. After the largest number of clients, one client asks again, to check that
the service is immediately as fast as before. Prints a Markdown table; ``--json`` prints a record.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from finray.batch.question_files import read_questions
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.engine import open_engine

START_S = 180.0
SHOWN = (
    "clients", "answered/s", "p50 ms", "p95 ms", "p99 ms", "refused (429)", "429 p50 ms", "429 p95 ms", "other errors",
)  # fmt: skip


@dataclass(slots=True)
class Load:
    """Results of one number of clients in ``wall`` seconds; latencies in seconds."""

    clients: int
    wall: float = 0.0
    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    def row(self) -> dict[str, Any]:
        p50, p95, p99 = _milliseconds(self.answered, (0.5, 0.95, 0.99))
        figures = (
            self.clients, round(len(self.answered) / self.wall, 1), p50, p95, p99, len(self.refused),
            *_milliseconds(self.refused, (0.5, 0.95)), dict(self.others) or 0,
        )  # fmt: skip
        return dict(zip(SHOWN, figures, strict=True))


def main() -> None:
    arguments = _arguments()
    texts = [line.question for line in read_questions(arguments.questions) if isinstance(line, Question)]
    here = _in_process(arguments.index, texts)
    with service(arguments.index, arguments.port, arguments.replicas) as (url, key):
        single, added = asyncio.run(_sequence(url, key, texts))
        loads = [asyncio.run(_load(url, key, texts, n, arguments)) for n in arguments.clients]
        again, _ = asyncio.run(_sequence(url, key, texts[: len(texts) // 2]))
    record = {
        "questions": len(texts),
        "in_process_p50_ms": _milliseconds(here, (0.5,))[0],
        "http_p50_ms": _milliseconds(single, (0.5,))[0],
        "http_and_serve_add_p50_ms": _milliseconds(added, (0.5,))[0],
        "http_and_serve_add_p95_ms": _milliseconds(added, (0.95,))[0],
        "http_p50_ms_after_load": _milliseconds(again, (0.5,))[0],
        "http_p50_ms_before_load_same_questions": _milliseconds(single[: len(again)], (0.5,))[0],
        "loads": [load.row() for load in loads],
    }
    if arguments.json:
        sys.stdout.write(json.dumps(record) + "\n")
        return
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in record.items() if name != "loads"]
    lines += ["", f"| {' | '.join(SHOWN)} |", f"|{'---:|' * len(SHOWN)}"]
    lines += [f"| {' | '.join(str(value) for value in load.row().values())} |" for load in loads]
    sys.stdout.write("\n".join(lines) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions")
    parser.add_argument("--index", required=True)
    parser.add_argument("--seconds", type=float, default=30.0, help="seconds for each number of clients; at most 120")
    parser.add_argument("--ramp", type=float, default=5.0, help="seconds in which the clients start, before --seconds")
    parser.add_argument("--clients", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--replicas", type=int, default=0, help="replicas that answer, as for finray serve")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    arguments.seconds = min(arguments.seconds, 120.0)
    return arguments


def _in_process(index: str, texts: Sequence[str]) -> list[float]:
    """Seconds of each question, asked in turn after a warm-up round, as over HTTP."""
    engine = open_engine(index, load_settings("local"))

    async def ask() -> list[float]:
        return [(await engine.answer(Question(str(n), text))).seconds for n, text in enumerate(texts)]

    asyncio.run(ask())
    return asyncio.run(ask())


@contextmanager
def service(index: str, port: int, replicas: int) -> Iterator[tuple[str, str]]:
    """Run ``finray serve`` with its own key; yields (url, key) once it is ready."""
    command = str(Path(sys.executable).parent / "finray")
    with tempfile.TemporaryDirectory() as folder:
        keys = str(Path(folder) / "keys.json")
        environment = os.environ | {"FINRAY_SERVING__KEYS": keys}
        made = subprocess.run(
            [command, "keys", "add", "load"], env=environment, capture_output=True, text=True, check=True
        )
        key = re.findall(r"frk_\S+", made.stdout)[0]
        lifted = [f"serving.{name}=1000000" for name in ("questions_per_minute", "max_concurrent")]
        options = [part for setting in lifted for part in ("--set", setting)]
        log = Path(folder) / "serve.log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [command, "serve", "--index", index, "--port", str(port), "--replicas", str(replicas), *options],
                env=environment, stdout=said, stderr=said,
            )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        try:
            _wait(url, process, log)
            yield url, key
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if process.poll() is not None:
            said = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise SystemExit(f"finray serve ended with {process.returncode}:\n{said}")
        try:
            if httpx.get(f"{url}/readyz", timeout=5).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    raise SystemExit(f"finray serve was not ready in {START_S:.0f} s")


def _client(url: str, key: str, connections: int) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    return httpx.AsyncClient(
        base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=httpx.Timeout(130.0), limits=limits
    )


async def _sequence(url: str, key: str, texts: Sequence[str]) -> tuple[list[float], list[float]]:
    """Seconds of each question, asked in turn by one client after a warm-up round, and the seconds outside the
    engine."""
    seconds: list[float] = []
    added: list[float] = []
    async with _client(url, key, 1) as client:
        for number in range(2):
            seconds, added = [], []
            for text in texts:
                started = time.perf_counter()
                reply = await client.post("/v1/answer", json={"question": text})
                seconds.append(time.perf_counter() - started)
                if not reply.is_success:
                    raise SystemExit(f"round {number}: HTTP {reply.status_code}: {reply.text[:200]}")
                added.append(seconds[-1] - reply.json()["data"][0]["seconds"])
    return seconds, added


async def _load(url: str, key: str, texts: Sequence[str], clients: int, arguments: argparse.Namespace) -> Load:
    load = Load(clients)
    started = time.perf_counter()
    end = started + arguments.ramp + arguments.seconds
    async with _client(url, key, clients) as client:

        async def come(number: int) -> None:
            await asyncio.sleep(arguments.ramp * number / clients)
            await _ask(client, texts, number, end, load)

        await asyncio.gather(*(come(number) for number in range(clients)))
    load.wall = time.perf_counter() - started
    return load


async def _ask(client: httpx.AsyncClient, texts: Sequence[str], number: int, end: float, load: Load) -> None:
    for text in itertools.islice(itertools.cycle(texts), number % len(texts), None):
        started = time.perf_counter()
        if started >= end:
            return
        try:
            reply = await client.post("/v1/answer", json={"question": text})
        except httpx.HTTPError as error:
            load.others[type(error).__name__] += 1
            continue
        took = time.perf_counter() - started
        if reply.status_code == 429:
            load.refused.append(took)
            # Spread the retries, like those of independent clients: otherwise all come back at once.
            await asyncio.sleep(float(reply.headers.get("Retry-After", "1")) * random.uniform(0.75, 1.25))
        elif reply.is_success:
            load.answered.append(took)
        else:
            load.others[f"HTTP {reply.status_code}"] += 1


def _milliseconds(seconds: Sequence[float], quantiles: Sequence[float]) -> list[float | None]:
    if not seconds:
        return [None] * len(quantiles)
    return [round(1000 * float(value), 1) for value in np.quantile(seconds, quantiles)]


if __name__ == "__main__":
    main()

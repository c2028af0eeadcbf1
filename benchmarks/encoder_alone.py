"""Time of finray's encoder alone for the chunks of an index: a lower bound for an index job.

    python benchmarks/encoder_alone.py INDEX [--processes 2]

Runs as many processes as the job has encoding workers (one for each CPU), with one thread each. Each process has loaded
its model and an equal share of the texts before the clock starts. Prints one JSON object: ``seconds`` from the first
start to the last end; ``forward_seconds``, the longest time of a process in forward passes, without the tokenizer; and
``forward_cpu_seconds``, their CPU time summed over processes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from types import SimpleNamespace
from typing import Any, cast

from finray.core.settings import EncoderSettings
from finray.index.reading.reader import IndexReader
from finray.models.encoder import Encoder
from finray.models.encoder_loading import load_encoder

_READY_SECONDS = 300.0
_everyone: Barrier | None = None
"""Barrier of the worker processes until all have loaded their model."""


class _Clock:
    """Sums the time of forward passes."""

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            started, started_cpu = time.perf_counter(), time.process_time()
            result = function(*arguments)
            self.seconds += time.perf_counter() - started
            self.cpu_seconds += time.process_time() - started_cpu
            return result

        return call


def _timed_encoder(clock: _Clock) -> Encoder:
    """The encoder that the index job takes on this machine."""
    encoder: Any = load_encoder(EncoderSettings(model="minilm"), threads=1)
    passes = encoder._forward  # a method of TransformerEncoder, an object of MiniLmEncoder
    timed = clock.timed(passes) if callable(passes) else SimpleNamespace(states=clock.timed(passes.states))
    encoder._forward = timed
    return cast("Encoder", encoder)


def _start_worker(everyone: Barrier) -> None:
    global _everyone
    _everyone = everyone


def _encode(texts: list[str]) -> tuple[float, float, float, float]:
    """Start and end (monotonic), seconds and CPU seconds of forward passes."""
    clock = _Clock()
    encoder = _timed_encoder(clock)
    encoder.encode_passages(texts[:8])
    clock.seconds = clock.cpu_seconds = 0.0
    assert _everyone is not None
    _everyone.wait(_READY_SECONDS)
    started = time.monotonic()
    encoder.encode_passages(texts)
    return started, time.monotonic(), clock.seconds, clock.cpu_seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    processes: int = arguments.processes
    texts: list[str] = IndexReader.open(arguments.index).chunks(None, ["text"])["text"].to_pylist()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        processes, mp_context=context, initializer=_start_worker, initargs=(context.Barrier(processes),)
    ) as pool:
        timings = pool.map(_encode, [texts[first::processes] for first in range(processes)])
        starts, ends, forward, forward_cpu = zip(*timings, strict=True)
    output = {
        "chunks": len(texts),
        "seconds": max(ends) - min(starts),
        "forward_seconds": max(forward),
        "forward_cpu_seconds": sum(forward_cpu),
    }
    print(json.dumps(output))


if __name__ == "__main__":
    main()

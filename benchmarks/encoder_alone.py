"""How long finray's encoder alone takes for the chunks of an index: the floor of an index job's time.

    python benchmarks/encoder_alone.py INDEX [--processes 2]

As many processes as the job has encoding workers (one for each processor), one thread each, every one with its model
loaded and an equal share of the texts in memory before the clock starts. Prints one JSON object: ``seconds`` from the
first start to the last end, and ``forward_seconds``, the longest time that a process spent in forward passes, without
the tokenizer.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier

from finray.index.reader import IndexReader
from finray.models.encoder import Vectors
from finray.models.minilm import minilm_folder
from finray.models.transformer_encoder import TransformerEncoder
from finray.settings import EncoderSettings

_READY_SECONDS = 300.0
_everyone: Barrier | None = None
"""Of a worker process: where all wait until the last has its model."""


class _TimedEncoder(TransformerEncoder):
    """Adds up the time of forward passes in ``forward_seconds``."""

    forward_seconds = 0.0

    def _forward(self, tokens: list[list[int]]) -> Vectors:
        started = time.perf_counter()
        vectors = super()._forward(tokens)
        self.forward_seconds += time.perf_counter() - started
        return vectors


def _start_worker(everyone: Barrier) -> None:
    global _everyone
    _everyone = everyone


def _encode(texts: list[str]) -> tuple[float, float, float]:
    """Start and end (monotonic), and seconds of forward passes."""
    encoder = _TimedEncoder(str(minilm_folder()), EncoderSettings(), threads=1)
    encoder.encode_passages(texts[:8])
    encoder.forward_seconds = 0.0
    assert _everyone is not None
    _everyone.wait(_READY_SECONDS)
    started = time.monotonic()
    encoder.encode_passages(texts)
    return started, time.monotonic(), encoder.forward_seconds


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
        starts, ends, forward = zip(*timings, strict=True)
    output = {"chunks": len(texts), "seconds": max(ends) - min(starts), "forward_seconds": max(forward)}
    print(json.dumps(output))


if __name__ == "__main__":
    main()

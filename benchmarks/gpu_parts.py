"""The measurements of gpu.py, each in a process of its own: functions of a folder that return a table as records."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from gpu_models import DEBERTA_LARGE, E5_LARGE, SMALL_LLM, TINY, save_encoder, save_llm, save_reranker, save_tokenizer
from llm_speed import tokens_per_second

from finray.cluster.index_job import index_filings
from finray.core.settings import EncoderSettings, RerankerSettings, Settings, load_settings
from finray.filings.read import parse_filing
from finray.index.job.summary import IndexProgress
from finray.index.writing.bundle import make_bundle, texts_to_encode
from finray.lab.sample.generate import generate_sample
from finray.models.encoder import Vectors
from finray.models.load_chat import load_chat
from finray.models.reranker import load_reranker
from finray.models.transformer_encoder import TransformerEncoder

Record = dict[str, Any]
MAX_TOKENS = 512
_TEXTS = "texts.txt"
_PAIRS = 100
"""Passages that are reranked for a question, as in the preset ``paper``."""


@dataclass(frozen=True, slots=True)
class Size:
    """``companies`` file the filings of the pipeline; ``budgets`` are padded tokens of a forward pass; ``seconds`` is
    the time of one measurement."""

    tiny: bool
    companies: int
    pages: str
    vocabulary: int
    budgets: tuple[int, ...]
    actors: tuple[int, ...]
    seconds: float


FULL = Size(False, 30, "full", 8_000, (4_096, 16_384, 65_536, 262_144), (1, 2, 4), 5.0)
SMALLEST = Size(True, 1, "small", 500, (1_024, 4_096), (1,), 0.2)


def settings(folder: Path, **overrides: object) -> Settings:
    chosen = {"encoder.model": str(folder / "encoder"), "encoder.max_tokens": MAX_TOKENS}
    return load_settings(overrides=chosen | overrides, environment={})


def prepare(folder: Path, size: Size) -> list[Record]:
    """Filings, the texts of some of them, a tokenizer, and the models."""
    sample = folder / "sample"
    years = 1 if size.tiny else 3
    generate_sample(sample, companies=size.companies, years=years, formats=("html",), questions=0, pages=size.pages)  # type: ignore[arg-type]
    texts, parsed = _parsed(folder, size.seconds)
    (folder / _TEXTS).write_text("\n".join(" ".join(text.split()) for text in texts), encoding="utf-8")
    save_tokenizer(texts, folder / "tokenizer", tokens=size.vocabulary)
    save_encoder(TINY if size.tiny else E5_LARGE, folder / "encoder", folder / "tokenizer")
    save_reranker(TINY if size.tiny else DEBERTA_LARGE, folder / "reranker", folder / "tokenizer")
    return [parsed]


def _parsed(folder: Path, seconds: float) -> tuple[list[str], Record]:
    """Texts to encode, from as many filings as one process parses in ``seconds``, and the speed."""
    chosen = settings(folder)
    texts: list[str] = []
    files = sorted(path for path in (folder / "sample" / "filings").iterdir())
    pages = filings = 0
    started = time.perf_counter()
    for path in files:
        bundle = make_bundle(parse_filing(path.read_bytes(), str(path), chosen.filings, None), chosen.chunks)
        texts += texts_to_encode(bundle)
        pages += bundle.pages.num_rows
        filings += 1
        if time.perf_counter() - started > seconds:
            break
    spent = time.perf_counter() - started
    return texts, {
        "stage": "parse",
        "of": f"1 process, HTML, {filings} filings",
        "pages_per_s": pages / spent,
        "chunks_per_s": len(texts) / spent,
    }


def _texts(folder: Path) -> list[str]:
    return (folder / _TEXTS).read_text(encoding="utf-8").splitlines()


class _TimedEncoder(TransformerEncoder):
    """Sums the time of forward passes and the tokens in them."""

    forward_seconds = 0.0
    tokens = 0

    def _forward(self, tokens: list[list[int]], rows: int) -> Vectors:
        started = time.perf_counter()
        vectors = super()._forward(tokens, rows)  # ends with a copy to the CPU, so it has waited for the GPU
        self.forward_seconds += time.perf_counter() - started
        self.tokens += sum(map(len, tokens))
        return vectors


def forward(folder: Path, size: Size) -> list[Record]:
    """The encoder at several token budgets: forward passes, and tokenizing beside them; and once in fixed shapes."""
    texts, records = _texts(folder), []
    for budget, fixed in [*((budget, False) for budget in size.budgets), (size.budgets[0], True)]:
        chosen = EncoderSettings(
            model=str(folder / "encoder"), max_tokens=MAX_TOKENS, batch_size=max(1, budget // MAX_TOKENS)
        )
        try:
            records.append(_forward_at(budget, chosen, texts, size.seconds, fixed))
        except torch.OutOfMemoryError:
            records.append({"stage": "forward", "of": f"{budget:,} tokens: out of memory"})
    return records


def _forward_at(budget: int, chosen: EncoderSettings, texts: list[str], seconds: float, fixed: bool) -> Record:
    encoder = _TimedEncoder(chosen.model, chosen, threads=None, fixed_shapes=fixed)
    step = max(64, 4 * budget // MAX_TOKENS)
    some = (texts * (1 + step // len(texts)))[:step]
    encoder.encode_passages(some)  # warm-up: kernels and memory
    encoder.forward_seconds, encoder.tokens = 0.0, 0
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    started, chunks = time.perf_counter(), 0
    while not chunks or time.perf_counter() - started < seconds:
        at = chunks % len(texts)
        some = (texts[at : at + step] + texts * (1 + step // len(texts)))[:step]
        encoder.encode_passages(some)
        chunks += step
    spent = time.perf_counter() - started
    return {
        "stage": "forward",
        "of": f"{budget:,} tokens a pass{', fixed shapes' if fixed else ''}",
        "chunks_per_s": chunks / encoder.forward_seconds,
        "tokens_per_s": encoder.tokens / encoder.forward_seconds,
        "tflops": 2 * encoder.parameters * encoder.tokens / encoder.forward_seconds / 1e12,
        "tokenize_chunks_per_s": chunks / max(1e-9, spent - encoder.forward_seconds),
        "gpu_memory_gb": torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0,
    }


def rerank(folder: Path, size: Size) -> list[Record]:
    """Pairs of a question and a passage, at several batch sizes."""
    texts, records = _texts(folder), []
    query = "What was the total revenue of the company in fiscal year 2023?"
    pairs = [(query, text) for text in (texts * (1 + _PAIRS // len(texts)))[:_PAIRS]]
    for batch in (8,) if size.tiny else (16, 64, 128):
        reranker = load_reranker(RerankerSettings(model=str(folder / "reranker"), batch_size=batch))
        reranker.score_pairs(pairs)  # warm-up
        started, done = time.perf_counter(), 0
        while not done or time.perf_counter() - started < size.seconds:
            reranker.score_pairs(pairs)
            done += _PAIRS
        rate = done / (time.perf_counter() - started)
        records.append({"stage": "rerank", "of": f"{batch} pairs a pass", "pairs_per_s": rate})
    return records


def pipeline(folder: Path, size: Size) -> list[Record]:
    """The index job itself: parsing tasks and embedding actors on Ray, which share one GPU."""
    gpu, records = torch.cuda.is_available(), []
    for actors in size.actors:
        index = folder / f"index-{actors}"
        shutil.rmtree(index, ignore_errors=True)
        chosen = settings(
            folder,
            **{
                "index_job.embed_workers_min": actors,
                "index_job.embed_workers_max": actors,
                "index_job.gpus_per_worker": 1 / actors if gpu else 0,
            },
        )
        reports: list[IndexProgress] = []
        files = [str(folder / "sample" / "filings")]
        summary = index_filings(files, str(index), chosen, progress=reports.append)
        busy = summary.stage_seconds
        record = {
            "stage": "pipeline",
            "of": f"{actors} actors, {summary.indexed} filings",
            "chunks_per_s": _steady_rate(reports),
            "seconds": summary.seconds,
            "first_chunk_s": next((report.seconds for report in reports if report.chunks), summary.seconds),
        }
        records.append(record | {f"{stage}_busy_s": busy.get(stage, 0.0) for stage in ("parse", "embed", "write")})
    return records


def _steady_rate(reports: Sequence[IndexProgress]) -> float:
    """Chunks a second from the first embedded filing to the last: without start-up and upkeep."""
    seen = [(report.seconds, report.chunks) for report in reports if report.chunks]
    (start, first), (end, last) = seen[0], seen[-1]
    return (last - first) / max(1e-9, end - start)


def llm(folder: Path, size: Size) -> list[Record]:
    """vLLM, if it is installed, with a small model."""
    try:
        import vllm
    except ImportError:
        return [{"stage": "vllm", "of": "not installed"}]
    save_llm(TINY if size.tiny else SMALL_LLM, folder / "llm", folder / "tokenizer")
    overrides = {
        "llm.backend": "vllm",
        "llm.model": str(folder / "llm"),
        "llm.max_tokens": 16 if size.tiny else 128,
        "llm.temperature": 1.0,
        "llm.max_concurrency": 256,
        "llm.vllm.max_model_len": 2_048,
        "llm.vllm.gpu_memory_utilization": 0.5,
    }
    model = load_chat(settings(folder, **overrides).llm)

    async def measured() -> list[Record]:
        await tokens_per_second(model, 2, 0)  # warm-up
        many = (1, 4) if size.tiny else (1, 16, 64, 256)
        return [
            {
                "stage": "vllm",
                "of": f"{at_once} requests at once, vLLM {vllm.__version__}",
                "tokens_per_s": await tokens_per_second(model, at_once, at_once),
            }
            for at_once in many
        ]

    return asyncio.run(measured())


PARTS: dict[str, tuple[Callable[[Path, Size], list[Record]], float]] = {
    "prepare": (prepare, 150.0),
    "forward": (forward, 90.0),
    "rerank": (rerank, 60.0),
    "pipeline": (pipeline, 150.0),
    "llm": (llm, 130.0),
}
"""Name -> (measurement, seconds after which it is stopped): together less than ten minutes."""


def machine() -> Record:
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none"
    return {"gpu": gpu, "cpus": len(os.sched_getaffinity(0)), "torch": torch.__version__}

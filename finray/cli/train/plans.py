"""``finray train plan-samples`` and ``plan-writer``: the adapter of the model that writes plans (preset ``small``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from finray.cli.options import JsonOption
from finray.cli.output import emit, err
from finray.cli.train.fitting import listed
from finray.core.errors import UsageError


def plan_samples(
    questions: Annotated[list[Path], typer.Argument(help="Files of benchmarks/table_questions, .jsonl.")],
    index: Annotated[str, typer.Option("--index", help="Index of their filings.")],
    tatqa: Annotated[list[Path] | None, typer.Option("--tatqa", help="A file of TAT-QA. May be repeated.")] = None,
    finqa: Annotated[list[Path] | None, typer.Option("--finqa", help="FinQA's programs, .jsonl.")] = None,
    out: Annotated[Path, typer.Option("--out", help="File to write the samples to.")] = Path("plans.jsonl"),
    json_: JsonOption = False,
) -> int:
    """Turn questions with known cells into sheets with their plans, one JSON object a line."""
    from finray.index.reading.facts import FilingFacts
    from finray.index.reading.reader import IndexReader
    from finray.lab.training.plan_samples import Sample, finqa_samples, own_samples, tatqa_samples, write_samples
    from finray.lab.training.readers.row_examples import read_lines
    from finray.question.companies.catalog import CompanyCatalog

    reader = IndexReader.open(index)
    catalog = CompanyCatalog(reader.filings())
    facts = FilingFacts(reader, catalog)
    found: list[Sample] = []
    for path in questions:
        # Of several wordings of a question, the samples take one.
        lines = list({line["qid"]: line for line in read_lines(path) if "cells" in line}.values())
        found += own_samples([line for line in lines if "context" not in line], facts, catalog, path.stem)
        for file in tatqa or []:
            found += tatqa_samples(file, lines)
    for file in finqa or []:
        found += finqa_samples(file)
    write_samples(found, out)
    record: Mapping[str, Any] = dict(Counter(sample.source for sample in found))
    emit({"samples": str(out), **record}, listed(record), f"wrote {out}", as_json=json_)
    return 0


def plan_writer(
    samples: Annotated[list[Path], typer.Argument(help="Files of finray train plan-samples.")],
    model: Annotated[Path, typer.Option("--model", help="A GGUF file, or a folder of transformers.")],
    out: Annotated[Path, typer.Option("--out", help="File to write the adapter to.")] = Path("plan_adapter.gguf"),
    passes: Annotated[float, typer.Option(min=0.0, help="Passes over the samples.")] = 1.0,
    minutes: Annotated[float, typer.Option(min=0.1, help="Training ends early after so long.")] = 600.0,
    threads: Annotated[int, typer.Option(min=1, help="Processors.")] = 2,
    held_out: Annotated[list[str] | None, typer.Option(help="Groups to leave out: companies, finqa:TICKER.")] = None,
    json_: JsonOption = False,
) -> int:
    """Train the adapter of the model that writes plans; a killed training goes on from its checkpoint beside --out.

    A sample takes 1.6 CPU seconds for half a billion parameters on a processor with AVX512-BF16 or AMX, and several
    times as long on others. One of eight tickers of FinQA and contexts of TAT-QA is always left out.
    """
    import torch

    from finray.lab.training.plan_samples import is_held_out
    from finray.lab.training.plan_writer import Training, load_base, train, write_adapter

    given = [json.loads(line) for path in samples for line in path.read_text("utf-8").splitlines()]
    known = [each for each in given if not is_held_out(each["group"], frozenset(held_out or ()))]
    if not known:
        raise UsageError(f"no sample in {', '.join(map(str, samples))} is left to train on")
    torch.set_num_threads(threads)
    base, tokenizer = load_base(model)
    plan = Training(samples=round(passes * len(known)), seconds=60 * minutes)
    arrays = train(
        known,
        base,
        tokenizer,
        out.with_suffix(".checkpoint"),
        plan,
        lambda done, loss: err.print(f"{done:,} of {plan.samples:,} samples, loss {loss:.3f}"),
    )
    write_adapter(arrays, out, name="finray plans")
    record = {"samples": len(known), "left out": len(given) - len(known)}
    emit({"adapter": str(out), **record}, listed(record), f"wrote {out}", as_json=json_)
    return 0

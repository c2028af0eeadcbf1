"""``finray build-lofin``: builds an open-domain benchmark over the filings of an index."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

import typer

from finray.cli.options import IndexOption, JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar


def build_lofin(
    filings: Annotated[
        list[str] | None,
        typer.Argument(help="EDGAR filings to index first: folders, globs, files or s3:// locations. Empty: none."),
    ] = None,
    *,
    index: IndexOption,
    out_: Annotated[str, typer.Option("--out", help="Folder or s3:// prefix of the benchmark.")],
    finqa: Annotated[
        list[str] | None,
        typer.Option("--finqa", help="FinQA's train.json, dev.json or test.json, or questions that name filings."),
    ] = None,
    financebench: Annotated[
        list[str] | None, typer.Option("--financebench", help="FinanceBench's file, or its questions in our format.")
    ] = None,
    secqa: Annotated[int, typer.Option(min=0, help="Most questions of each SEC-QA template; 0 for none.")] = 100,
    rewrite: Annotated[
        Literal["auto", "rules", "llm"],
        typer.Option(
            help="Put company and year into FinQA's questions by rules or by [llm]; auto: by [llm] if one is set."
        ),
    ] = "auto",
    nli: Annotated[
        str, typer.Option(help="NLI model that finds gold pages by meaning, a folder or hub name; empty: by words.")
    ] = "",
    nli_revision: Annotated[str, typer.Option(help="A commit, branch or tag of a hub model.")] = "",
    nli_kind: Annotated[
        Literal["cross-encoder", "encoder"], typer.Option(help="Whether it reads text and page together.")
    ] = "cross-encoder",
    annotated: Annotated[
        str | None, typer.Option(help="Lines of unresolved.jsonl to which people added the page: qid, doc_name, page.")
    ] = None,
    tickers: Annotated[
        str | None, typer.Option(help="EDGAR's company_tickers.json, for filings whose cover has no ticker.")
    ] = None,
    split: Annotated[
        Literal["source", "company"], typer.Option(help="Splits of the sources, or each company in develop or test.")
    ] = "source",
    seed: Annotated[int, typer.Option(help="The same seed writes the same questions.")] = 0,
    preset: PresetOption = "local",
    set_: SetOption = None,
    json_: JsonOption = False,
) -> int:
    """Build an open-domain benchmark as LOFin was: FinQA, FinanceBench and SEC-QA questions over many filings.

    docs/systems/lofin.md describes the steps and the files.
    """
    from finray.cli.index import described, index_with_progress
    from finray.lab.datasets.lofin_builder import build as builder
    from finray.lab.datasets.lofin_builder import parts
    from finray.lab.datasets.lofin_builder.rewriting import by_model, by_rules
    from finray.lab.datasets.lofin_builder.similarity import load_similarity
    from finray.models.load_chat import load_chat

    settings = settings_of(preset, set_)
    if filings:
        err.print(described(index_with_progress(filings, index, settings)), highlight=False)
    request = builder.Request(
        index, out_, tuple(finqa or ()), tuple(financebench or ()), secqa, seed, split, tickers, annotated
    )
    similarity = load_similarity(nli, cross=nli_kind == "cross-encoder", revision=nli_revision)
    if rewrite == "auto":
        rewrite = "llm" if {"model", "base_url"} & settings.llm.model_fields_set else "rules"
    written_by = by_model(load_chat(settings.llm)) if rewrite == "llm" else by_rules
    with progress_bar(err, "finding gold pages") as report:
        built, corpus = asyncio.run(builder.build(request, settings.filings, similarity, written_by, report))
    summary = parts.write(request, built, corpus)
    emit(summary, _text(summary, out_), as_json=json_)
    return 1 if built.bad or built.unreadable else 0


def _text(summary: dict[str, Any], out: str) -> str:
    from finray.core.bootstrap import Estimate
    from finray.lab.evaluation.report import shown

    lines = [
        f"{summary['questions']:,} questions over {summary['documents']:,} filings of {summary['companies']:,} "
        f"companies in {out}; {summary['set_aside']:,} files set aside",
        *(f"{split}: {_counts(parts)}" for split, parts in summary["by_part"].items()),
        f"by source: {_counts(summary['by_source'])}",
    ]
    if summary["rewritten"]:
        lines.append(f"made open-domain: {_counts(summary['rewritten'])}")
    if summary["unresolved"]:
        lines.append(f"without gold page, in unresolved.jsonl: {_counts(summary['unresolved'])}")
    known = {name: Estimate(**found) for name, found in summary["agreement"].items()}
    if known["words"].n:
        found = "; ".join(f"{name} {shown(each)}" for name, each in known.items())
        lines.append(f"known gold pages found again: {found}")
    if summary["unreadable"]:
        lines.append(f"no SEC-QA questions about {len(summary['unreadable'])} reports that cannot be read again:")
        lines += [f"  {uri}: {reason}" for uri, reason in summary["unreadable"].items()]
    lines += [f"skipped: {bad['file']}: record {bad['record']}: {bad['reason']}" for bad in summary["bad_records"]]
    return "\n".join(lines)


def _counts(found: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in found.items()) or "none"

"""``finray questions``, ``paraphrases``, ``probes`` and ``convert``: create question files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from finray.cli.options import IndexOption, JsonOption, QuestionsOut
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.core.errors import SourceError
from finray.core.questions import Question
from finray.core.settings import load_settings

if TYPE_CHECKING:
    from finray.lab.datasets.xbrl.sources import ReadFilings

_SHOWN = 5


TaggedSources = Annotated[
    list[str], typer.Argument(help="Folders, globs, files or s3:// locations of EDGAR HTML filings.")
]
SeedOption = Annotated[int, typer.Option(help="The same seed writes the same questions.")]


def questions(
    sources: TaggedSources,
    out_: QuestionsOut,
    per_filing: Annotated[int, typer.Option(min=1, help="Most questions about one filing.")] = 40,
    seed: SeedOption = 0,
    json_: JsonOption = False,
) -> int:
    """Write questions with exact answers and pages from the inline-XBRL tags of filings."""
    from finray.batch.question_files import check_target, write_questions
    from finray.lab.datasets.xbrl.generate import generate_questions

    check_target(out_)
    read = _tagged(sources)
    made = list(generate_questions(read.tagged, per_filing=per_filing, seed=seed))
    write_questions(out_, made)
    by_type = _by_type(made)
    record = {
        "questions": len(made),
        "by_type": by_type,
        "filings": len(read.tagged),
        "untagged": list(read.untagged),
        "failures": [{"source_uri": uri, "reason": reason} for uri, reason in read.failures],
    }
    lines = [f"{len(made):,} questions about {len(read.tagged):,} filings in {out_}: {_counts(by_type)}"]
    if read.untagged:
        some = ", ".join(read.untagged[:_SHOWN]) + (", …" if len(read.untagged) > _SHOWN else "")
        lines.append(f"skipped, no tags: {len(read.untagged):,} files ({some})")
    lines += [f"failed: {uri}: {reason}" for uri, reason in read.failures]
    emit(record, "\n".join(lines), as_json=json_)
    return 1 if read.failures else 0


def paraphrases(
    sources: TaggedSources,
    out_: Annotated[str, typer.Option("--out", help="Folder or s3:// prefix for develop, validate and final.jsonl.")],
    count: Annotated[int, typer.Option(min=1, help="Questions in all three files.")] = 3000,
    seed: SeedOption = 0,
    json_: JsonOption = False,
) -> int:
    """Write questions about tagged facts in many wordings; no company and half of the wordings are in two files."""
    from finray.batch.question_files import write_questions
    from finray.lab.datasets.wordings.generate import distinct_facts
    from finray.lab.datasets.wordings.generate import paraphrases as generated

    read = _tagged(sources)
    made = generated(read.tagged, count=count, seed=seed)
    facts = distinct_facts(read.tagged)
    for part, of_part in made.items():
        write_questions(f"{out_.rstrip('/')}/{part}.jsonl", of_part)
    record = {
        "questions": {part: len(of_part) for part, of_part in made.items()},
        "facts": facts,
        "by_type": {part: _by_type(of_part) for part, of_part in made.items()},
        "failures": [{"source_uri": uri, "reason": reason} for uri, reason in read.failures],
    }
    lines = [f"{len(each):,} questions, {facts[part]:,} facts: {part}.jsonl" for part, each in made.items()]
    emit(record, "\n".join([*lines, *(f"failed: {uri}: {reason}" for uri, reason in read.failures)]), as_json=json_)
    return 1 if read.failures else 0


def probes(
    questions_: Annotated[str, typer.Argument(metavar="QUESTIONS", help="Questions that the index can answer.")],
    index: IndexOption,
    out_: QuestionsOut,
    count: Annotated[int, typer.Option(min=1, help="Most questions of each of the three types.")] = 60,
    seed: SeedOption = 0,
    json_: JsonOption = False,
) -> int:
    """Write questions that the index cannot answer: other companies, other years, metrics a company does not report."""
    from finray.batch.question_files import check_target, read_questions, write_questions
    from finray.index.reading.reader import IndexReader
    from finray.lab.datasets.probes import make_probes, probe_source

    check_target(out_)
    asked = [line for line in read_questions(questions_) if isinstance(line, Question)]
    made = make_probes(asked, probe_source(IndexReader.open(index)), count=count, seed=seed)
    write_questions(out_, made)
    by_type = _by_type(made)
    text = f"{len(made):,} questions in {out_}: {_counts(by_type)}"
    emit({"questions": len(made), "by_type": by_type}, text, as_json=json_)
    return 0


def convert(
    dataset: Annotated[
        str, typer.Argument(help="financebench, lofin, finqa, tatqa, legalbench-rag, legalbench-rag-mini or finray.")
    ],
    source: Annotated[str, typer.Argument(help="The file as it was published, local or s3://.")],
    out_: QuestionsOut,
    json_: JsonOption = False,
) -> int:
    """Convert a published data set to finray's question format. If the file is missing, print where to get it."""
    from finray.batch.question_files import BadLine, check_target, write_questions
    from finray.lab.datasets.registry import load_dataset

    check_target(out_)
    read = list(load_dataset(dataset, source))
    good = [line for line in read if isinstance(line, Question)]
    bad = [line for line in read if isinstance(line, BadLine)]
    write_questions(out_, good)
    record = {"questions": len(good), "bad_records": [{"record": each.line, "reason": each.reason} for each in bad]}
    lines = [f"skipped: record {each.line}: {each.reason}" for each in bad]
    emit(record, "\n".join([f"{len(good):,} questions of {dataset} in {out_}", *lines]), as_json=json_)
    return 1 if bad else 0


def _tagged(sources: list[str]) -> ReadFilings:
    """The tagged filings among ``sources``. Raises SourceError if there are none."""
    from finray.lab.datasets.xbrl.sources import read_filings

    with progress_bar(err, "reading filings") as report:
        read = read_filings(sources, load_settings().filings, report)
    if not read.tagged:
        raise SourceError(
            f"none of the {len(read.untagged) + len(read.failures)} files has inline XBRL on its pages; use EDGAR's "
            "HTML of 10-K and 10-Q reports, which has it since 2019 to 2021 (PDF does not)"
        )
    return read


def _by_type(made: Iterable[Question]) -> dict[str, int]:
    return dict(sorted(Counter(question.question_type or "" for question in made).items()))


def _counts(by_type: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in by_type.items())

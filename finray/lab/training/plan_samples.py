"""Training data of the model that writes plans: sheets with the plans that answer their questions.

Three sources: the questions about rows of ``benchmarks/table_questions``, asked over an index; those about contexts of
TAT-QA; and FinQA's programs, whose numbers are mapped back to cells of their table or sentences. A part of the sheets
lacks what is asked for; their plan is "none".
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from finray.answering.cells.page_cells import PageCells
from finray.answering.table_reader.shortlist import Shortlist, rows_of, shortlist
from finray.answering.written_plans.answerer import ROWS, SENTENCES
from finray.answering.written_plans.language import OPERATIONS, Call, CellId, Expression, Number
from finray.answering.written_plans.sheet import Sheet, StatedFigures, sheet, shown_figures
from finray.batch.question_files import BadLine
from finray.core.filing import Page
from finray.core.passages import Passage
from finray.core.query import Query
from finray.filings.pages.sentences import page_sentences
from finray.filings.prose.scales import unspoken_scale
from finray.index.reading.facts import FilingFacts
from finray.lab.datasets.tatqa import Paragraph, TatqaContext, read_contexts
from finray.lab.datasets.tatqa_page import view
from finray.lab.training.readers.row_examples import rows_of_cell
from finray.question.companies.catalog import CompanyCatalog
from finray.question.rule_reader import RuleReader
from finray.question.synonyms import words_of

_POOL: Final = 40
_PAGES: Final = 6
_ABSENT: Final = 0.1
"""Share of the sheets from which the rows asked for are taken."""
_HELD_OUT: Final = 8
"""One of so many tickers of FinQA is held out."""
LONGEST_PROGRAM: Final = 600
"""Characters; FinQA's longest has some 250."""
_FIGURE = re.compile(r"\d[\d,]*\.?\d*|\.\d+")
_STEP = re.compile(r"\b(\w{1,20})\(\s*([^(),]*(?:\([^()]*\)[^(),]*)*?)\s*,\s*([^()]*?)\s*\)")
_ASKS_SHARE = re.compile(r"\b(?:percent\w*|portion|proportion|share|fraction|rate|margin)\b|%", re.I)


@dataclass(frozen=True, slots=True)
class Sample:
    """``plan`` answers the question of ``prompt``, a sheet. ``group`` is what splits keep together: a company."""

    id: str
    source: str
    group: str
    prompt: str
    plan: str
    answer: float | None = None


@dataclass(frozen=True, slots=True)
class _Operand:
    """The cells that may be meant: (a series of the pool, the number of its cell), or (a stated sentence, a figure)."""

    series: tuple[tuple[int, int], ...] = ()
    stated: tuple[tuple[int, int], ...] = ()


class _Context:
    """What is shown around one question: the ``pool`` of rows, best first, and ``stated`` sentences."""

    def __init__(self, query: Query, pool: Shortlist, stated: Sequence[StatedFigures]) -> None:
        self.query, self.pool, self.stated = query, pool, tuple(stated)

    def sample(
        self, operands: Sequence[_Operand], shape: Expression, chance: random.Random
    ) -> tuple[Sheet, str] | None:
        """The sheet and the plan: ``shape`` over ``operands``, whose numbers are the rows of its cells. None if one is
        nowhere."""
        chosen = [self._chosen(operand) for operand in operands]
        if any(each is None for each in chosen):
            return None
        rows = dict.fromkeys(at for each in chosen if each is not None and not each[0] for at in (each[1],))
        told = dict.fromkeys(at for each in chosen if each is not None and each[0] for at in (each[1],))
        absent = chance.random() < _ABSENT
        others = [at for at in range(len(self.pool.series)) if at not in rows]
        size = max(len(rows), min(ROWS, chance.choice((6, 10, ROWS, ROWS, ROWS))))
        shown = [*([] if absent else rows), *others][: max(size, 0 if absent else len(rows))]
        further = [at for at in range(len(self.stated)) if at not in told]
        most = chance.choice((0, 1, SENTENCES, SENTENCES))
        sentences = [*([] if absent else told), *further][: max(most, 0 if absent else len(told))]
        series = [self.pool.series[at] for at in sorted(shown)]
        chance.shuffle(sentences)
        made = sheet(self.query, series, [self.stated[at] for at in sentences])
        if absent:
            return (made, "none") if len(made.rows) > 2 else None
        ids: list[CellId] = []
        for each in chosen:
            assert each is not None
            told_here, at, column = each
            place = self._place(made, told_here, at, column, sentences)
            if place is None:
                return None
            ids.append(place)
        return made, str(_with_ids(shape, ids))

    def _chosen(self, operand: _Operand) -> tuple[bool, int, int] | None:
        if operand.series:
            at, column = min(operand.series)
            return False, at, column
        if operand.stated:
            at, column = min(operand.stated)
            return True, at, column
        return None

    def _place(self, made: Sheet, told: bool, at: int, column: int, sentences: Sequence[int]) -> CellId | None:
        if told:
            row = len(made.rows) - len(sentences) + sentences.index(at)
            return CellId(row + 1, column + 1) if column < len(made.rows[row].cells) else None
        wanted = self.pool.series[at].cells[column]
        for number, shown in enumerate(made.rows, start=1):
            for place, cell in enumerate(shown.cells, start=1):
                if cell is wanted:
                    return CellId(number, place)
        return None


def _with_ids(shape: Expression, ids: Sequence[CellId]) -> Expression:
    """``shape`` with the cell of each operand; its own cells are ``CellId(number of operand, 0)``."""
    if isinstance(shape, CellId):
        return ids[shape.row]
    if isinstance(shape, Number):
        return shape
    return Call(shape.operation, tuple(_with_ids(each, ids) for each in shape.arguments))


def _cells(count: int, start: int = 0) -> list[Expression]:
    return [CellId(at, 0) for at in range(start, start + count)]


def shape_of(operation: str, size: int) -> Expression | None:
    """The plan of an ``operation`` of benchmarks/table_questions over ``size`` cells in its order; None for others."""
    each = _cells(size)
    half = size // 2
    match operation:
        case "value":
            return each[0] if size == 1 else None
        case "sum" | "average" | "max" | "min" | "which_max" | "which_min":
            return Call(operation, tuple(each)) if 2 <= size <= OPERATIONS[operation].most else None
        case "sum_share" | "sum_ratio" if size > 2:
            return Call(operation.removeprefix("sum_"), (Call("sum", tuple(each[:-1])), each[-1]))
        case "part_share" if size > 1:
            return Call("share", (each[0], Call("sum", tuple(each))))
        case "sum_change" | "sum_growth" if size in (4, 6, 8):
            outer = "difference" if operation == "sum_change" else "growth"
            return Call(outer, (Call("sum", tuple(each[:half])), Call("sum", tuple(each[half:]))))
        case "gap_change" | "gap_growth" if size == 4:
            outer = "difference" if operation == "gap_change" else "growth"
            return Call(outer, (Call("difference", tuple(each[:2])), Call("difference", tuple(each[2:]))))
        case "share_change" if size == 4:
            return Call("difference", (Call("share", tuple(each[:2])), Call("share", tuple(each[2:]))))
        case "change_share" if size == 4:
            return Call("share", (Call("difference", (each[0], each[2])), Call("difference", (each[1], each[3]))))
        case "share_average" if size in (4, 6, 8):
            return Call("average", tuple(Call("share", (each[at], each[at + 1])) for at in range(0, size, 2)))
        case "difference" | "growth" | "share" | "ratio" | "product" if size == 2:
            return Call(operation, tuple(each))
    return None


def own_samples(
    lines: Sequence[Mapping[str, Any]], facts: FilingFacts, catalog: CompanyCatalog, source: str
) -> Iterator[Sample]:
    """Samples of questions about pages of an index; those whose cells are not found there are left out."""
    ids = {filing.doc_name: filing.filing_id for company in catalog.companies for filing in facts.filings_of(company)}
    reader, cells = RuleReader(catalog), PageCells(facts)
    words: dict[str, Mapping[int, set[str]]] = {}
    for line in sorted(lines, key=lambda each: str(each["evidence"][0]["doc_name"])):
        doc_name, gold = str(line["evidence"][0]["doc_name"]), int(line["evidence"][0]["page"])
        filing_id = ids.get(doc_name)
        chance = _chance(str(line["qid"]))
        question = chance.choice(line["questions"]) if "questions" in line else str(line["question"])
        shape = shape_of(str(line["operation"]), len(line["cells"]))
        if filing_id is None or shape is None:
            continue
        query = reader.understand(question, question)
        if filing_id not in words:
            words = {filing_id: _words_of_pages(facts, filing_id)}
        pages = _pages(words[filing_id], query.text, gold, chance)
        passages = [Passage(doc_name, filing_id, number, 0, 1, "", 1.0) for number in pages]
        pool = shortlist(rows_of(query, cells.read(passages), facts), _POOL)
        read = facts.pages([(filing_id, number) for number in pages])
        stated = _stated(query, [(number, page) for (_, number), page in read.items()], facts, filing_id)
        context = _Context(query, pool, stated)
        made = context.sample([_operand(cell, context, gold) for cell in line["cells"]], shape, chance)
        if made is not None:
            group = re.split(r"[_-]", doc_name)[0]
            yield Sample(str(line["qid"]), source, group, made[0].text, made[1])


def _words_of_pages(facts: FilingFacts, filing_id: str) -> Mapping[int, set[str]]:
    words: dict[int, set[str]] = defaultdict(set)
    for item in facts.line_items([filing_id])[filing_id]:
        words[item.page].update(words_of(" ".join(filter(None, (item.label, item.section, item.caption)))))
    return words


def _pages(words: Mapping[int, set[str]], text: str, gold: int, chance: random.Random) -> list[int]:
    """The gold page among those whose rows share most words with ``text``, mostly first."""
    asked = set(words_of(text))
    others = sorted((page for page in words if page != gold), key=lambda page: -len(asked & words[page]))
    found = others[: _PAGES - 1]
    found.insert(0 if chance.random() < 0.6 else chance.randrange(len(found) + 1), gold)
    return found


def _stated(query: Query, pages: Iterable[tuple[int, Page]], facts: FilingFacts, filing_id: str) -> list[StatedFigures]:
    """The sentences with figures, those with most words of the question first."""
    asked = set(words_of(query.text))
    filing = facts.filing(filing_id)
    found: list[tuple[int, StatedFigures]] = []
    for rank, (number, page) in enumerate(pages):
        sentences = page_sentences(page.text, page.headings)
        scale = unspoken_scale(page.text, (each.text for each in sentences))
        for sentence in sentences:
            figures = shown_figures(sentence)
            if figures and len(sentence.text) < 700:
                shared = len(asked & set(words_of(f"{sentence.heading} {sentence.text}")))
                found.append((shared, StatedFigures(filing, number, rank, sentence, figures, scale)))
    return [each for _, each in sorted(found, key=lambda pair: -pair[0])]


def _operand(cell: Mapping[str, Any], context: _Context, gold: int) -> _Operand:
    if cell.get("sentence"):
        text = " ".join(str(cell["sentence"]).split())
        return _Operand(
            stated=tuple(
                (at, column)
                for at, each in enumerate(context.stated)
                if each.sentence.text == text
                for column, figure in enumerate(each.figures)
                if text[figure.start : figure.end] == cell["text"]
            )
        )
    owners = rows_of_cell(cell, context.pool, gold)
    return _Operand(
        tuple(
            (at, column)
            for at in owners
            for column, each in enumerate(context.pool.series[at].cells)
            if each.item.text == cell["text"]
            and (str(each.item.period_end) if each.item.period_end else None) == cell.get("period_end")
        )
    )


def tatqa_samples(path: Path, lines: Sequence[Mapping[str, Any]]) -> Iterator[Sample]:
    """Samples of the ``lines`` about contexts of TAT-QA's file ``path``."""
    of_context: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in lines:
        if "context" in line and "cells" in line:
            of_context[str(line["context"])].append(line)
    for context in read_contexts(path.read_bytes(), path.name):
        if isinstance(context, BadLine) or not of_context[context.uid]:
            continue
        look = _look(context)
        for line in of_context[context.uid]:
            chance = _chance(str(line["qid"]))
            shape = shape_of(str(line["operation"]), len(line["cells"]))
            found = look(str(chance.choice(line["questions"])))
            if shape is None or found is None:
                continue
            made = found.sample([_operand(cell, found, 0) for cell in line["cells"]], shape, chance)
            if made is not None:
                yield Sample(str(line["qid"]), "tatqa", f"tatqa:{context.uid}", made[0].text, made[1])


def _look(context: TatqaContext) -> Any:
    """Returns a function from a question to its :class:`_Context`."""
    facts, catalog, filing = view(context)
    reader = RuleReader(catalog)
    cells = PageCells(facts).read([Passage(filing.doc_name, filing.filing_id, 0, 0, 1, "", 1.0)])
    pages = [(number, page) for (_, number), page in facts.pages([(filing.filing_id, 0)]).items()]

    def look(question: str) -> _Context | None:
        query = reader.understand(question, question)
        rows = rows_of(query, cells, facts)
        if not rows.series:
            return None
        return _Context(query, shortlist(rows, _POOL), _stated(query, pages, facts, filing.filing_id))

    return look


def finqa_samples(path: Path) -> Iterator[Sample]:
    """Samples of FinQA's programs; those with a number that is not in the table or the sentences are left out."""
    for text in path.read_text("utf-8").splitlines():
        line = json.loads(text)
        written = finqa_plan(str(line["program"]), str(line["question"]))
        if written is None:
            continue
        shape, numbers = written
        paragraphs = tuple(Paragraph(at, str(each)) for at, each in enumerate(line["text"]))
        table = tuple(tuple(map(str, row)) for row in line["table"])
        look = _look(TatqaContext(str(line["id"]), table, paragraphs, ()))
        question = str(line["question"])
        context = look(question)
        if context is None:
            continue
        operands = [_numbered(number, context) for number in numbers]
        made = context.sample(operands, shape, _chance(str(line["id"])))
        if made is not None:
            (source, *_) = line["source"] or ["unknown_0"]
            ticker = str(source).split("_")[0]
            answer = line["answer"] if isinstance(line["answer"], (int, float)) else None
            yield Sample(str(line["id"]), "finqa", f"finqa:{ticker}", made[0].text, made[1], answer)


def _numbered(number: Decimal, context: _Context) -> _Operand:
    """The cells that print ``number``, those that share most words with the question first."""
    asked = set(words_of(context.query.text))
    rows = sorted(
        (
            -len(asked & set(words_of(f"{series.text} {cell.item.column_label or ''} {cell.item.period_end or ''}"))),
            at,
            column,
        )
        for at, series in enumerate(context.pool.series)
        for column, cell in enumerate(series.cells)
        if number in _printed(cell.item.text)
    )
    if rows:
        return _Operand(((rows[0][1], rows[0][2]),))
    return _Operand(
        stated=tuple(
            (at, column)
            for at, each in enumerate(context.stated)
            for column, figure in enumerate(each.figures)
            if number in _printed(each.sentence.text[figure.start : figure.end])
        )
    )


def _printed(text: str) -> set[Decimal]:
    return {Decimal(each.replace(",", "").rstrip(".")) for each in _FIGURE.findall(text)}


def finqa_plan(program: str, question: str) -> tuple[Expression, list[Decimal]] | None:
    """(plan, numbers of its operands) of a program in FinQA's language; None if the language of plans lacks it."""
    numbers: list[Decimal] = []
    results: list[Expression] = []
    steps = _STEP.findall(program) if len(program) <= LONGEST_PROGRAM else []
    if not steps or len(steps) != program.count("("):
        return None
    for operation, *written in steps:
        arguments: list[Expression] = []
        for text in written:
            if text.startswith("#"):
                arguments.append(results[int(text[1:])])
            elif text.startswith("const_"):
                arguments.append(Number(-1 if text == "const_m1" else float(text[6:])))
            elif re.fullmatch(r"-?\d[\d,.]*%?", text):
                number = abs(Decimal(text.rstrip("%").replace(",", "")))
                if number not in numbers:
                    numbers.append(number)
                arguments.append(CellId(numbers.index(number), 0))
            else:
                return None
        made = _step(operation, arguments[0], arguments[1], question)
        if made is None:
            return None
        results.append(made)
    final = results[-1]
    return (final, numbers) if numbers and not isinstance(final, Number) else None


def _step(operation: str, one: Expression, other: Expression, question: str) -> Expression | None:
    hundred = isinstance(other, Number) and other.value == 100
    match operation:
        case "add":
            own = one.arguments if isinstance(one, Call) and one.operation == "sum" else (one,)
            own += other.arguments if isinstance(other, Call) and other.operation == "sum" else (other,)
            return Call("sum", own) if len(own) <= OPERATIONS["sum"].most else None
        case "subtract":
            if isinstance(one, Call) and one.operation in ("share", "ratio") and other == Number(1):
                return Call("growth", one.arguments)
            return Call("difference", (one, other))
        case "multiply":
            return one if hundred and isinstance(one, Call) else Call("product", (one, other))
        case "divide":
            if isinstance(one, Call) and one.operation == "difference" and one.arguments[1] == other:
                return Call("growth", one.arguments)
            if isinstance(one, Call) and one.operation == "sum" and other == Number(len(one.arguments)):
                return Call("average", one.arguments)
            if isinstance(other, Number):
                return Call("ratio", (one, other))
            return Call("share" if _ASKS_SHARE.search(question) else "ratio", (one, other))
        case "greater":
            return Call("more", (one, other))
    return None


def is_held_out(group: str, companies: frozenset[str]) -> bool:
    """Whether a group is kept for tests: one of ``companies``, or one of eight tickers of FinQA or contexts."""
    if ":" not in group:
        return group in companies
    return hashlib.sha256(group.encode()).digest()[0] % _HELD_OUT == 0


def write_samples(samples: Iterable[Sample], path: Path) -> int:
    """Writes one JSON object a line; returns how many."""
    lines = [json.dumps(asdict(each), ensure_ascii=False) for each in samples]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return len(lines)


def _chance(key: str) -> random.Random:
    return random.Random(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big"))

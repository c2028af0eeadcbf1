"""Training data from TAT-QA (arXiv 2105.07624), as finray/lab/datasets/tatqa.py reads it.

A context is one table and the paragraphs around it, about one page. Its filing is unknown, so negatives come from other
contexts.
"""

from __future__ import annotations

from finray.batch.question_files import BadLine
from finray.lab.datasets.tatqa import TatqaContext, TatqaQuestion, read_contexts
from finray.lab.training.fine_tuning.corpus import Corpus, LeftOut, TrainingQuestion, Unit, UnitKind
from finray.storage.locations import read_bytes


def tatqa_corpus(uri: str, kind: UnitKind) -> Corpus:
    """The contexts of one TAT-QA file. Malformed ones are left out, with the reason. Raises SourceError."""
    units: dict[str, list[Unit]] = {}
    kept: list[TrainingQuestion] = []
    left: list[LeftOut] = []
    for context in read_contexts(read_bytes(uri), uri):
        if isinstance(context, BadLine):
            left.append(LeftOut(context.qid, f"malformed: {context.reason}"))
            continue
        document = f"tatqa:{context.uid}"
        units[document] = _page(document, context) if kind == "pages" else _passages(document, context)
        there = {unit.key for unit in units[document]}
        for question in context.questions:
            gold = tuple(key for key in _gold(document, question, kind) if key in there)
            if gold:
                spared = frozenset((document,))
                kept.append(
                    TrainingQuestion(question.uid, question.question, "tatqa", (document,), gold, spared, within=False)
                )
            else:
                left.append(LeftOut(question.uid, "its gold paragraph is not in the context"))
    return Corpus(units=units, sources=dict.fromkeys(units, "tatqa"), questions=tuple(kept), left_out=tuple(left))


def _page(document: str, context: TatqaContext) -> list[Unit]:
    """The context as one page: the first paragraph, the table, the other paragraphs."""
    paragraphs = [paragraph.text for paragraph in sorted(context.paragraphs, key=lambda p: p.order)]
    text = "\n".join((*paragraphs[:1], context.table_text, *paragraphs[1:]))
    return [Unit(document, document, text, is_table=True)]


def _passages(document: str, context: TatqaContext) -> list[Unit]:
    table = Unit(f"{document}#table", document, context.table_text, is_table=True)
    return [table, *(Unit(f"{document}#{p.order}", document, p.text) for p in context.paragraphs if p.text.strip())]


def _gold(document: str, question: TatqaQuestion, kind: UnitKind) -> list[str]:
    if kind == "pages":
        return [document]
    tables = [f"{document}#table"] if question.from_table else []
    # A question about only the table may name the paragraph that introduces it.
    paragraphs = () if question.answer_from == "table" else question.paragraphs
    return tables + [f"{document}#{order}" for order in paragraphs]

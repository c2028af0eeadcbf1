"""The ``local`` preset's answerer: numbers computed from statement lines, else sentences quoted; each with its page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from finray.answering.coverage import cover, described, fitting_period, plans_for, printing
from finray.answering.grounding import prints
from finray.answering.quotes import (
    Quote,
    best_quote,
    closest_sentence,
    held_share,
    is_table,
    quoted_number,
    reported_event,
)
from finray.answering.wording import Shape, asked_shape, asked_value, shown
from finray.core.journal import Journal
from finray.core.plan import Coverage, Found, Plan, Unit
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.roles import Curation
from finray.core.types import Answer, CitedCell, Passage
from finray.index.facts import FilingFacts
from finray.models.encoder import Encoder
from finray.question.arithmetic import ProgramError, evaluate
from finray.question.definitions import unread_definition
from finray.question.terms import content_terms

MIN_WORTH = 0.4
"""Mean of word coverage and cosine below which a quotation is no answer to the question."""
MIN_HELD = 0.6
"""A question that narrows a known metric ("net interest margin") is answered only by text that holds those words."""
MIN_AMOUNT_COVERAGE = 0.5
"""A sentence that gives an amount must hold this share of the question's words: one figure is like any other."""
_STATES = re.compile(r"\b(?:was|were|is|are|had|have|totaled|amounted)\b[^|]*\d[^|]*\.\W*$", re.I)
_QUOTED_PASSAGES = 10


class StatementAnswerer:
    """Numeric questions by plan and program, others by quotation. Refuses where an operand is missing.

    Whether the index has the company and the period at all is for :class:`GuardedAnswerer` to say, which asks this one.
    """

    def __init__(self, facts: FilingFacts, encoder: Encoder) -> None:
        self._facts = facts
        self._encoder = encoder

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        passages = curation.kept
        fitting = fitting_period(query, passages, self._facts)
        plans = curation.plans or plans_for(query, passages, self._facts)
        if not plans:
            return self._quoted(query, fitting, journal)
        covered = self._covered(query, plans, curation)
        plan, absent = covered.plan, covered.absent
        if absent:
            journal.note("answer: no value for " + ", ".join(operand.name for operand in absent))
            if len(plan.operands) == 1 and absent[0].phrase is not None:
                computed = plan.kind != "value" or plan.spelled or any(each.spelled for each in plans)
                return self._quoted(query, fitting, journal, amount=bool(query.periods) or computed)
            return _refusal(tuple(described(operand, self._facts) for operand in absent))
        found = covered.found
        currencies = sorted({item.currency for item in found.values() if item.currency and item.unit.startswith("USD")})
        if len(currencies) > 1:
            return _refusal((f"the figures in one currency: they are in {', '.join(currencies)}",))
        try:
            return self._computed(query, plan, found, passages)
        except ProgramError as error:
            return _refusal((f"a defined result: {error}",))

    def _covered(self, query: Query, plans: Sequence[Plan], curation: Curation) -> Coverage:
        """The first plan whose operands are all there, else the first plan with what it lacks."""
        if curation.coverage is not None and not curation.coverage.absent:
            return curation.coverage
        tried: list[Coverage] = []
        for plan in plans:
            tried.append(cover(query, plan, curation.kept, self._facts, anywhere=True))
            if not tried[-1].absent:
                return tried[-1]
        return tried[0]

    def _computed(self, query: Query, plan: Plan, found: Mapping[str, Found], passages: Sequence[Passage]) -> Answer:
        values = {name: item.value for name, item in found.items()}
        shape = _shape(query, found.values())
        printed = _printed_unit(found.values())
        result_unit = printed if printed is not None and plan.unit == "USD" else plan.unit
        part_unit = printed if printed is not None and plan.part_unit == "USD" else plan.part_unit
        parts = [(label, evaluate(program, values)) for label, program in plan.parts]
        program = plan.program
        lead = ""
        if plan.kind == "highest":
            ranked = sorted(plan.choose, key=lambda choice: evaluate(choice[1], values), reverse=not plan.lowest)
            winner, _, program = ranked[0]
            lead = f"{self._facts.company_name(winner)}: "
        if result_unit.startswith("USD") and plan.kind == "value" and "share" in query.intents:
            return _refusal((f"both figures of the share that {query.text!r} asks for",))
        value = evaluate(program, values)
        text = lead + shown(value, result_unit, shape)
        if plan.kind == "which":
            return self._ranked(query, plan, parts, part_unit, found, passages)
        if plan.kind == "trend":
            word = "rose" if value > 0 else "fell" if value < 0 else "did not change"
            (before, old), (after, new) = parts[0], parts[-1]
            agrees = value < 0 if plan.lowest else value > 0
            text = (
                f"{'Yes' if agrees else 'No'}: {plan.metric} {word} "
                f"from {shown(old, part_unit, shape)} ({before}) to {shown(new, part_unit, shape)} ({after})."
            )
        elif plan.kind == "sign":
            word = "positive" if value > 0 else "negative" if value < 0 else "zero"
            agrees = word in query.intents
            text = f"{'Yes' if agrees else 'No'}: {plan.metric} was {word}, {text}."
        elif plan.kind == "versus":
            agrees = value < 0 if plan.lowest else value > 0
            word = "is higher than" if value > 0 else "is lower than" if value < 0 else "equals"
            (one, its), (other, theirs) = parts
            text = (
                f"{'Yes' if agrees else 'No'}: {plan.metric} of {self._label(one)}, {shown(its, part_unit, shape)}, "
                f"{word} that of {self._label(other)}, {shown(theirs, part_unit, shape)} ({plan.operands[0].period})."
            )
        elif parts and plan.kind != "highest":
            detail = "; ".join(f"{self._label(label)} {shown(part, part_unit, shape)}" for label, part in parts)
            text = f"{text} ({plan.metric}: {detail})"
        elif parts:
            text = f"{text} ({plan.metric})"
        elif not query.periods:
            text = f"{text} ({plan.operands[-1].period}, the latest in the index)"
        number, unit = asked_value(value, result_unit, shape)
        return self._answer(text, plan, found, program, passages, number, unit)

    def _answer(
        self,
        text: str,
        plan: Plan,
        found: Mapping[str, Found],
        program: str,
        passages: Sequence[Passage],
        value: float | None = None,
        unit: str | None = None,
    ) -> Answer:
        used = {operand.name: found[operand.name] for operand in plan.operands}
        evidence, grounded = self._evidence(used, passages)
        return Answer(
            text,
            "answered",
            value,
            unit,
            _shown_program(program, used),
            evidence,
            tuple(_cited(name, item) for name, item in used.items()),
            grounded=grounded,
        )

    def _ranked(
        self,
        query: Query,
        plan: Plan,
        parts: Sequence[tuple[str, float]],
        unit: Unit,
        found: Mapping[str, Found],
        passages: Sequence[Passage],
    ) -> Answer:
        """The name of the company or year with the highest, or lowest, value, and the values of all."""
        ranked = sorted(parts, key=lambda part: part[1], reverse=not plan.lowest)
        shape = _shape(query, found.values())
        told = [f"{self._label(label)} {shown(value, unit, shape)}" for label, value in ranked]
        of = f", {plan.operands[0].period}" if self._facts.has_company(ranked[0][0]) else ""
        name = self._label(ranked[0][0])
        tie = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
        text = f"{'Neither: they are equal' if tie else name} ({plan.metric}{of}: {'; '.join(told)})"
        return self._answer(text, plan, found, plan.program, passages)

    def _evidence(self, found: Mapping[str, Found], passages: Sequence[Passage]) -> tuple[tuple[Passage, ...], bool]:
        """For each operand the passage that prints its row, else the page's passage, each once; and whether every
        operand's figure stands in its passage."""
        chosen: dict[tuple[str, int, int], Passage] = {}
        grounded = True
        for item in found.values():
            passage = printing(item, passages, self._facts)
            if passage is not None:
                chosen.setdefault((passage.filing_id, passage.page, passage.start), passage)
            grounded = grounded and passage is not None and prints(passage.text, item.line_item.text)
        return tuple(chosen.values()), grounded

    def _quoted(self, query: Query, passages: Sequence[Passage], journal: Journal, *, amount: bool = False) -> Answer:
        """The sentence that answers; for an ``amount`` that no row surely prints, no table."""
        event = self._event(query, passages)
        if event is not None:
            return event
        names = [*query.names, *(self._facts.company_name(company) for company in query.companies)]
        prose = "words" in query.intents
        quote = best_quote(query.text, passages[:_QUOTED_PASSAGES], self._encoder, names, prose=prose)
        if quote is not None:
            journal.note(f"answer: quotation covers {quote.coverage:.2f} of the words, cosine {quote.similarity:.2f}")
        narrow = quote is not None and held_share(query.unexplained, quote.text) < MIN_HELD
        narrow = narrow and bool(query.metrics) and not prose
        if quote is None or quote.worth < MIN_WORTH or narrow:
            unread = unread_definition(query.question)
            other = (f"a definition that is understood, in place of {excerpt(unread, 80)!r}",) if unread else ()
            return _refusal((*other, f"a passage that surely answers {query.text!r}"))
        number = quoted_number(query.question, quote)
        text = f"“{quote.text}” ({quote.passage.doc_name}, p. {quote.passage.page + 1})"
        if amount and (quote.coverage < MIN_AMOUNT_COVERAGE or (number is None and not _states_amount(query, quote))):
            return _refusal((f"a figure for {query.text!r}",))
        if number is None:
            return Answer(text, "answered", evidence=(quote.passage,))
        return Answer(text, "answered", number.value, number.unit, evidence=(quote.passage,))

    def _event(self, query: Query, passages: Sequence[Passage]) -> Answer | None:
        """A question for what a current report reported shares no words with the report: quote its Item."""
        first = passages[0]
        current = self._facts.filing(first.filing_id).form.startswith("8-K")
        if not (current and "8-K" in query.forms and "event" in query.intents):
            return None
        own = [p for p in passages if p.filing_id == first.filing_id]
        text = reported_event(own)
        if text is None:
            return None
        printing = next((p for p in own if text[:40] in " ".join(p.text.split())), first)
        return Answer(f"“{text}” ({printing.doc_name}, p. {printing.page + 1})", "answered", evidence=(printing,))

    def _label(self, label: str) -> str:
        return self._facts.company_name(label) if self._facts.has_company(label) else label


def _shape(query: Query, found: Iterable[Found]) -> Shape:
    """What the question asks for, in the currency that the operands share; without any money, in none."""
    currencies = [item.currency for item in found if item.unit.startswith("USD")]
    return replace(asked_shape(query.question), currency=max(currencies, default="USD"))


def _printed_unit(found: Iterable[Found]) -> Unit | None:
    """The unit of all operands that were found by their words, where that is no currency."""
    units = {item.unit for item in found}
    if len(units) != 1:
        return None
    (unit,) = units
    return unit if unit != "USD" else None


def _states_amount(query: Query, quote: Quote) -> bool:
    """Whether the sentence nearest to the question has figures and is no table: tables were looked through already."""
    sentence = closest_sentence(query.text, quote.text)
    behind_table = sentence.rpartition(" | ")[2]
    if behind_table != sentence and _STATES.search(behind_table):
        return held_share(content_terms(query.text), behind_table) >= MIN_AMOUNT_COVERAGE
    return any(map(str.isdigit, sentence)) and not is_table(sentence)


def _cited(name: str, found: Found) -> CitedCell:
    item = found.line_item
    return CitedCell(
        name=name,
        value=found.value,
        doc_name=found.filing.doc_name,
        filing_id=found.filing.filing_id,
        page=item.page,
        label=item.label,
        text=item.text,
        section=item.section,
        column_label=item.column_label,
        statement=item.statement,
        period_end=item.period_end,
        months=item.months,
        concept=item.concept,
        box=item.box,
        fit=min(1.0, found.score),
    )


def _refusal(missing: tuple[str, ...]) -> Answer:
    return Answer(f"Not found in the filings: {'; '.join(missing)}.", "unanswerable", missing=missing)


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"


def _shown_program(program: str, found: Mapping[str, Found]) -> str:
    """The program and its operands, each with the cell it came from, the page, and the tag where it has one."""
    operands = "; ".join(f"{name} = {_plain(item.value)} {_source(item)}" for name, item in found.items())
    return f"{program}  where {operands}"


def _source(found: Found) -> str:
    item = found.line_item
    tag = f", tagged {item.concept}" if item.concept else ""
    return f"[“{item.text}”, {found.filing.doc_name} p. {item.page + 1}{tag}]"

"""Tagged filings -> questions with gold value, unit, period and pages.

Types: ``xbrl_value`` (one value of the whole company), ``xbrl_segment`` (of a segment, product or place),
``xbrl_label`` (named by the words of its XBRL concept), ``xbrl_change`` (percentage change over a year),
``xbrl_difference`` (the same in dollars), ``xbrl_ratio``.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from finray.core.questions import Question
from finray.lab.datasets.xbrl.amounts import Amount, amount, percentage, ratio
from finray.lab.datasets.xbrl.asked import Candidate, FactKey, candidates, settled_facts
from finray.lab.datasets.xbrl.evidence import best_page, gold_evidence
from finray.lab.datasets.xbrl.multistep import Pair, Ratio, pairs, ratios
from finray.lab.datasets.xbrl.phrasing import Asker
from finray.lab.datasets.xbrl.spread import spread
from finray.lab.datasets.xbrl.tagged import Fact, TaggedFiling

SHARES = {
    "xbrl_value": 0.42,
    "xbrl_segment": 0.16,
    "xbrl_change": 0.12,
    "xbrl_difference": 0.06,
    "xbrl_ratio": 0.10,
    "xbrl_label": 0.14,
}
"""Share of each type among a filing's questions, if the filing has enough facts."""

_ASK_SHARE = 0.4
"""How often a concept's own wording is used, if it has one."""


@dataclass(frozen=True, slots=True)
class _Draft:
    question: str
    gold: Amount
    facts: tuple[Fact, ...]
    words: str
    program: str


def generate_questions(filings: Sequence[TaggedFiling], *, per_filing: int, seed: int) -> Iterator[Question]:
    """At most ``per_filing`` questions about each filing, reproducible by ``seed``."""
    settled = settled_facts(filings)
    for tagged in filings:
        yield from filing_questions(
            tagged, count=per_filing, seed=seed, settled=settled.get(tagged.filing.filing_id, frozenset())
        )


def filing_questions(
    tagged: TaggedFiling, *, count: int, seed: int, settled: Collection[FactKey] | None = None
) -> list[Question]:
    """At most ``count`` questions about one filing, in a fixed order of types; fewer if it has too few facts.

    ``settled`` limits the questions to facts for which this filing is the right source.
    """
    writer = _Writer(tagged, seed)
    found = candidates(tagged, settled)
    drafts: dict[str, Iterator[_Draft]] = {
        "xbrl_segment": writer.singles("xbrl_segment", [c for c in found if c.part is not None]),
        "xbrl_change": writer.changes(pairs(found)),
        "xbrl_difference": writer.differences(pairs(found)),
        "xbrl_ratio": writer.ratios(ratios(found)),
        "xbrl_label": writer.singles("xbrl_label", [c for c in found if c.part is None and c.concept is None]),
        "xbrl_value": writer.singles("xbrl_value", [c for c in found if c.part is None and c.concept is not None]),
    }
    questions: list[Question] = []
    for kind, source in drafts.items():
        # Plain values come last and fill up the count.
        wanted = count - len(questions) if kind == "xbrl_value" else round(count * SHARES[kind])
        questions += writer.questions(kind, source, wanted)
    return questions


@dataclass(slots=True)
class _Writer:
    """Writes the questions of one filing. Each type has its own random stream."""

    tagged: TaggedFiling
    seed: int
    asked: set[str] = field(default_factory=set)

    def questions(self, kind: str, drafts: Iterator[_Draft], count: int) -> list[Question]:
        made: list[Question] = []
        while len(made) < count and (draft := next(drafts, None)) is not None:
            if draft.question not in self.asked:
                self.asked.add(draft.question)
                made.append(self._question(kind, draft))
        return made

    def _question(self, kind: str, draft: _Draft) -> Question:
        identity = f"{self.tagged.filing.filing_id}|{kind}|{draft.program}|{self.seed}"
        return Question(
            qid=f"xbrl-{hashlib.sha256(identity.encode()).hexdigest()[:16]}",
            question=draft.question,
            answer=draft.gold.text,
            question_type=kind,
            evidence=gold_evidence(self.tagged, draft.facts, draft.words),
            value=draft.gold.value,
            unit=draft.gold.unit,
            program=draft.program,
        )

    def singles(self, kind: str, found: Sequence[Candidate]) -> Iterator[_Draft]:
        """Questions for one value: all measures once before any is repeated with another period."""
        rng = self._rng(kind)
        asker = Asker(self.tagged.filing, rng)
        for candidate in spread(found, lambda c: (c.fact.concept, c.part), lambda c: c.period.back, rng):
            gold = amount(candidate.fact.value, candidate.fact.unit, percent=candidate.percent)
            if gold is not None:
                name = rng.choice(candidate.names)
                question = self._single(asker, kind, candidate, name)
                if kind != "xbrl_segment":
                    statement = self.tagged.pages[best_page(self.tagged, candidate.fact.pages)].statement
                    question += asker.hints(statement, gold.text.endswith("million") and question.endswith("?"))
                words = " ".join((*candidate.names, candidate.part.name if candidate.part else ""))
                yield _Draft(question, gold, (candidate.fact,), words, operand(candidate.fact))

    def _single(self, asker: Asker, kind: str, candidate: Candidate, name: str) -> str:
        rng, period = asker.rng, candidate.period
        words = {"period": rng.choice(period.names()), "when": period.when(rng)}
        if candidate.part is not None:
            return asker.ask(f"part_{candidate.part.kind}", name, part=candidate.part.name, **words)
        if candidate.asks and rng.random() < _ASK_SHARE:
            return asker.fill(rng.choice(candidate.asks) + " {when}?", name, **words)
        if kind == "xbrl_label":
            return asker.ask("label", name, **words)
        return asker.ask("value_at" if period.kind.endswith("_end") else "value", name, **words)

    def changes(self, found: Sequence[Pair]) -> Iterator[_Draft]:
        rng = self._rng("xbrl_change")
        asker = Asker(self.tagged.filing, rng)
        for pair in spread(found, lambda p: p.after.fact.concept, lambda p: p.after.period.back, rng):
            before, after = pair.before.fact, pair.after.fact
            gold = percentage((after.value / before.value - 1) * 100)
            program = f"({operand(after)} / {operand(before)} - 1) * 100"
            yield self._over_time(asker, "change", pair, gold, program)

    def differences(self, found: Sequence[Pair]) -> Iterator[_Draft]:
        rng = self._rng("xbrl_difference")
        asker = Asker(self.tagged.filing, rng)
        for pair in spread(found, lambda p: p.after.fact.concept, lambda p: p.after.period.back, rng):
            before, after = pair.before.fact, pair.after.fact
            gold = amount(after.value - before.value, "usd")
            if gold is not None:
                yield self._over_time(asker, "difference", pair, gold, f"{operand(after)} - {operand(before)}")

    def _over_time(self, asker: Asker, template: str, pair: Pair, gold: Amount, program: str) -> _Draft:
        shared = [name for name in pair.after.names if name in pair.before.names] or list(pair.after.names)
        form = asker.rng.randrange(2)
        periods = [period.names()[form] for period in (pair.before.period, pair.after.period)]
        whens = [f"at {p}" if c.fact.start is None else f"in {p}"
                 for p, c in zip(periods, (pair.before, pair.after), strict=True)]  # fmt: skip
        question = asker.ask(
            template, asker.rng.choice(shared),
            period0=periods[0], period1=periods[1], when0=whens[0], when1=whens[1],
        )  # fmt: skip
        return _Draft(question, gold, (pair.before.fact, pair.after.fact), " ".join(shared), program)

    def ratios(self, found: Sequence[Ratio]) -> Iterator[_Draft]:
        rng = self._rng("xbrl_ratio")
        asker = Asker(self.tagged.filing, rng)
        for each in spread(found, lambda r: r.name, lambda r: r.over.period.back, rng):
            over, under = each.over.fact, each.under.fact
            quotient: Decimal = over.value / under.value
            gold = percentage(quotient * 100) if each.form == "percent" else ratio(quotient)
            program = f"{operand(over)} / {operand(under)}" + (" * 100" if each.form == "percent" else "")
            period = each.over.period
            when = period.when(rng)
            noun = when if period.kind.endswith("_end") else rng.choice(period.names())
            question = asker.ask(
                "ratio", "", ratio=each.name, definition=each.definition, when=when,
                period=noun.removeprefix("as of ").removeprefix("at "),
            )  # fmt: skip
            yield _Draft(question, gold, (over, under), " ".join((*each.over.names, *each.under.names)), program)

    def _rng(self, kind: str) -> random.Random:
        return random.Random(f"{self.seed}:{self.tagged.filing.filing_id}:{kind}")


def operand(fact: Fact) -> str:
    """A fact as a gold program names it: "us-gaap:Assets[2024-12-31]"."""
    members = "".join(f", {member}" for _, member in fact.members)
    period = f"{fact.end}" if fact.start is None else f"{fact.start}..{fact.end}"
    return f"{fact.concept}[{period}{members}]"

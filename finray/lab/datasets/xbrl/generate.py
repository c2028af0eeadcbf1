"""Tagged filings -> questions with gold value, unit, period and pages.

Types: ``xbrl_value`` (one value of the whole company), ``xbrl_segment`` (of a segment, product or place),
``xbrl_label`` (named by the words of its XBRL concept), ``xbrl_change`` (percentage change over a year),
``xbrl_difference`` (the same in dollars), ``xbrl_ratio``.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from finray.core.questions import Question
from finray.lab.datasets.hashing import hashed_qid
from finray.lab.datasets.xbrl.amounts import Amount, amount
from finray.lab.datasets.xbrl.asked import Candidate, candidates, settled_facts
from finray.lab.datasets.xbrl.evidence import best_page, gold_evidence
from finray.lab.datasets.xbrl.multistep import Pair, Ratio, pairs, ratios
from finray.lab.datasets.xbrl.phrasing import Asker
from finray.lab.datasets.xbrl.spread import spread
from finray.lab.datasets.xbrl.tagged import Fact, FactKey, TaggedFiling

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
"""How often a question uses a concept's own wording, if it has one."""


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
    over_time = pairs(found)
    drafts: dict[str, Iterator[_Draft]] = {
        "xbrl_segment": writer.singles("xbrl_segment", [c for c in found if c.part is not None]),
        "xbrl_change": writer.over_time("change", over_time),
        "xbrl_difference": writer.over_time("difference", over_time),
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
            qid=hashed_qid("xbrl", identity),
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
                yield _Draft(question, gold, (candidate.fact,), words, candidate.fact.operand)

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

    def over_time(self, comparison: Literal["change", "difference"], found: Sequence[Pair]) -> Iterator[_Draft]:
        rng = self._rng(f"xbrl_{comparison}")
        asker = Asker(self.tagged.filing, rng)
        for pair in spread(found, lambda p: p.after.fact.concept, lambda p: p.after.period.back, rng):
            gold, program = pair.answer(comparison)
            names = [name for name in pair.after.names if name in pair.before.names] or list(pair.after.names)
            form = rng.randrange(2)
            before, after = (each.period.names()[form] for each in (pair.before, pair.after))
            preposition = "at" if pair.after.fact.start is None else "in"
            question = asker.ask(
                comparison,
                rng.choice(names),
                period0=before,
                period1=after,
                when0=f"{preposition} {before}",
                when1=f"{preposition} {after}",
            )
            yield _Draft(question, gold, (pair.before.fact, pair.after.fact), " ".join(names), program)

    def ratios(self, found: Sequence[Ratio]) -> Iterator[_Draft]:
        rng = self._rng("xbrl_ratio")
        asker = Asker(self.tagged.filing, rng)
        for each in spread(found, lambda r: r.name, lambda r: r.over.period.back, rng):
            gold, program = each.answer()
            period = each.over.period
            when = period.when(rng)
            noun = when if period.kind.endswith("_end") else rng.choice(period.names())
            question = asker.ask(
                "ratio", "", ratio=each.name, definition=each.definition, when=when,
                period=noun.removeprefix("as of ").removeprefix("at "),
            )  # fmt: skip
            words = " ".join((*each.over.names, *each.under.names))
            yield _Draft(question, gold, (each.over.fact, each.under.fact), words, program)

    def _rng(self, kind: str) -> random.Random:
        return random.Random(f"{self.seed}:{self.tagged.filing.filing_id}:{kind}")

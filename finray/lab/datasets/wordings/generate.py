"""Tagged facts in many wordings: questions split by company, in wordings that are split too.

Types: ``wording_value``, ``wording_label`` (by the printed row), ``wording_part`` (a segment, product or place),
``wording_defined`` (the question says what it means), ``wording_change`` (in percent), ``wording_difference``,
``wording_average``, ``wording_total`` and ``wording_ratio``. Half of the questions of validate and final have wordings
that occur in no other part.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from finray.core.questions import Question
from finray.filings.cover.names import brand, tidy_name
from finray.lab.datasets.hashing import hashed_qid, hashed_share
from finray.lab.datasets.wordings.facts import Askable, Row, askable
from finray.lab.datasets.wordings.patterns import PARTS, NamedConcept, Part, Wordings, fixed_parts, load_wordings
from finray.lab.datasets.wordings.phrases import company_forms, misspelled, owner, period_noun, when
from finray.lab.datasets.xbrl.amounts import Amount, amount
from finray.lab.datasets.xbrl.asked import Candidate, settled_facts
from finray.lab.datasets.xbrl.evidence import gold_evidence
from finray.lab.datasets.xbrl.multistep import Comparison, Pair, Ratio
from finray.lab.datasets.xbrl.periods import Period
from finray.lab.datasets.xbrl.phrasing import cased, is_plural
from finray.lab.datasets.xbrl.spread import spread
from finray.lab.datasets.xbrl.tagged import Fact, TaggedFiling

SHARES: Final[Mapping[Part, float]] = {"develop": 0.5, "validate": 0.25, "final": 0.25}
KINDS: Final = {
    "value": 0.32, "label": 0.2, "part": 0.12, "defined": 0.08, "change": 0.1, "difference": 0.05, "average": 0.04,
    "total": 0.03, "ratio": 0.06,
}  # fmt: skip
"""Share of each kind, if the filing has enough facts for it."""
_UNSEEN, _BEFORE, _BETWEEN, _AFTER, _WISH = 0.5, 0.3, 0.5, 0.2, 0.2
_MISSPELLED, _LOWER = 0.08, 0.08
_SLOT: Final = re.compile(r"\{([^{}]+)\}")
_Item = Candidate | Row | Pair | Ratio


def part_of_company(tagged: TaggedFiling) -> Part:
    """The part of a filing's company: as another question set has it, else by a hash of its CIK or name."""
    key = (tagged.filing.cik or "").lstrip("0") or tagged.filing.company.lower()
    if key in fixed_parts():
        return fixed_parts()[key]
    draw = hashed_share(key)
    if draw < SHARES["develop"]:
        return "develop"
    return "validate" if draw < SHARES["develop"] + SHARES["validate"] else "final"


def paraphrases(filings: Sequence[TaggedFiling], *, count: int, seed: int) -> dict[Part, list[Question]]:
    """``count`` questions, or fewer if there are too few facts; the same for the same filings and ``seed``."""
    settled = settled_facts(filings)
    names = {brand(cased(tidy_name(tagged.filing.company))) for tagged in filings}
    made: dict[Part, list[Question]] = {}
    for part in PARTS:
        companies: dict[str, list[Iterator[Question]]] = {}
        for tagged in filings:
            if part_of_company(tagged) == part:
                found = askable(tagged, settled.get(tagged.filing.filing_id, frozenset()))
                writer = _Writer(tagged, part, seed, names)
                key = tagged.filing.cik or tagged.filing.company
                companies.setdefault(key, []).append(writer.questions(found))
        made[part] = _taken([_in_turn(sources) for sources in companies.values()], round(count * SHARES[part]))
    return made


def distinct_facts(filings: Sequence[TaggedFiling]) -> dict[Part, int]:
    """The number of facts for questions about a single value, by part."""
    settled = settled_facts(filings)
    counts: dict[Part, int] = dict.fromkeys(PARTS, 0)
    for tagged in filings:
        counts[part_of_company(tagged)] += askable(tagged, settled.get(tagged.filing.filing_id, frozenset())).facts
    return counts


def _in_turn(sources: Sequence[Iterator[Question]]) -> Iterator[Question]:
    """The items of all sources, one of each in turn."""
    left = list(sources)
    while left:
        for source in tuple(left):
            question = next(source, None)
            if question is None:
                left.remove(source)
            else:
                yield question


def _taken(sources: Sequence[Iterator[Question]], count: int) -> list[Question]:
    asked: dict[str, Question] = {}
    for question in _in_turn(sources):
        if len(asked) >= count:
            break
        asked.setdefault(question.question, question)
    return list(asked.values())


@dataclass(frozen=True, slots=True)
class _Draft:
    """``slots`` fill a pattern of ``kind``; ``periods`` are those that the question names, in order."""

    kind: str
    slots: Mapping[str, str]
    periods: tuple[Period, ...]
    gold: Amount
    facts: tuple[Fact, ...]
    words: str
    program: str


@dataclass(slots=True)
class _Writer:
    """Writes the questions of one filing, each kind in its share, each item once in every pattern."""

    tagged: TaggedFiling
    part: Part
    seed: int
    names: Collection[str]
    rng: random.Random = field(init=False)
    used: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rng = random.Random(f"{self.seed}:{self.tagged.filing.filing_id}")

    def questions(self, found: Askable) -> Iterator[Question]:
        flows = [pair for pair in found.pairs if not pair.after.period.kind.endswith("_end")]
        meant = [each for each in found.values if isinstance(each.concept, NamedConcept) and each.concept.means]
        sources: dict[str, Iterator[_Item]] = {
            "value": _cycle(found.values, self.rng),
            "label": _cycle(found.rows, self.rng),
            "part": _cycle(found.parts, self.rng),
            "defined": _cycle(meant, self.rng),
            "change": _cycle(found.pairs, self.rng),
            "difference": _cycle(found.pairs, self.rng),
            "average": _cycle(found.pairs, self.rng),
            "total": _cycle(flows, self.rng),
            "ratio": _cycle(found.ratios, self.rng),
        }
        while sources:
            kind = self.rng.choices(list(sources), [KINDS[each] for each in sources])[0]
            item = next(sources[kind], None)
            if item is None:
                del sources[kind]
                continue
            draft = _draft(kind, item, self.rng)
            question = self._question(draft) if draft is not None else None
            if question is not None:
                yield question

    def _question(self, draft: _Draft) -> Question | None:
        seen = self.part == "develop" or self.rng.random() > _UNSEEN
        wordings = load_wordings("develop" if seen else self.part)
        text = self._worded(draft, wordings)
        if text is None:
            return None
        identity = f"{self.tagged.filing.filing_id}|{draft.program}|{text}"
        return Question(
            qid=hashed_qid("wording", identity),
            question=text,
            answer=draft.gold.text,
            question_type="wording_" + draft.kind.removesuffix("_percent").removesuffix("_times"),
            evidence=gold_evidence(self.tagged, draft.facts, draft.words),
            value=draft.gold.value,
            unit=draft.gold.unit,
            program=draft.program,
        )

    def _worded(self, draft: _Draft, wordings: Wordings) -> str | None:
        """The question's text; None if the item was asked in this pattern before."""
        rng, patterns = self.rng, wordings.patterns
        cores = patterns[draft.kind]
        if draft.kind == "value" and draft.gold.unit == "USD":
            cores += patterns["value_money"]
        core = rng.choice(cores)
        if (draft.program, core) in self.used:
            return None
        self.used.add((draft.program, core))
        slots = {**draft.slots, **self._company(core, wordings), **self._periods(draft, wordings)}
        if rng.random() < _MISSPELLED and "metric" in slots:
            slots["metric"] = misspelled(slots["metric"], rng)
        slots["between"] = rng.choice(patterns["between"]) if rng.random() < _BETWEEN else ""
        parts = [_SLOT.sub(lambda slot: slots[slot[1]], core)]
        if rng.random() < _BEFORE:
            parts.insert(0, rng.choice(patterns["before"]))
        wishes = {"USD": "after_money", "percent": "after_percent"}.get(draft.gold.unit)
        if wishes and rng.random() < _WISH:
            parts.append(rng.choice(patterns[wishes]))
        elif rng.random() < _AFTER:
            parts.append(rng.choice(patterns["after"]))
        text = " ".join(" ".join(part[:1].upper() + part[1:] for part in parts).split()).replace("..", ".")
        return text.lower() if rng.random() < _LOWER else text

    def _company(self, core: str, wordings: Wordings) -> dict[str, str]:
        forms = company_forms(self.tagged.filing, wordings)
        if "{company's}" in core:
            forms = tuple(form for form in forms if owner(form) is not None)
        form = self.rng.choice(forms)
        if form == forms[0] and self.rng.random() < 2 * _MISSPELLED:
            form = misspelled(form, self.rng, self.names)
        return {"company": form, "company's": owner(form) or ""}

    def _periods(self, draft: _Draft, wordings: Wordings) -> dict[str, str]:
        rng, date = self.rng, self.rng.choice(wordings.dates)
        form = rng.choice(wordings.periods[draft.periods[0].kind])
        nouns = [period_noun(period, form, date) for period in draft.periods]
        first = draft.periods[0]
        slots = {"period": nouns[0], "in": when(first, nouns[0], rng)}
        slots["for"] = slots["in"] if first.kind.endswith("_end") else f"for {nouns[0]}"
        for at, (period, noun) in enumerate(zip(draft.periods, nouns, strict=True)):
            slots |= {f"period{at}": noun, f"in{at}": when(period, noun, rng)}
        return slots


def _cycle(items: Sequence[_Item], rng: random.Random) -> Iterator[_Item]:
    """Every item, different measures first, as often as the longest list of patterns may need."""
    for _ in range(12):
        yield from spread(items, _measure, lambda item: _period(item).back, rng)


def _measure(item: _Item) -> object:
    match item:
        case Candidate():
            return item.fact.concept, item.part
        case Row():
            return item.fact.concept
        case Pair():
            return item.after.fact.concept
        case _:
            return item.name


def _period(item: _Item) -> Period:
    match item:
        case Candidate() | Row():
            return item.period
        case Pair():
            return item.after.period
        case _:
            return item.over.period


def _draft(kind: str, item: _Item, rng: random.Random) -> _Draft | None:
    match item:
        case Candidate():
            return _single(kind, item, rng)
        case Row():
            gold = amount(item.fact.value, item.fact.unit)
            if gold is None:
                return None
            slots = {"label": item.label}
            return _Draft(kind, slots, (item.period,), gold, (item.fact,), item.label, item.fact.operand)
        case Pair():
            return _over_time(cast(Comparison, kind), item, rng)
        case _:
            return _quotient(item, rng)


def _single(kind: str, item: Candidate, rng: random.Random) -> _Draft | None:
    gold = amount(item.fact.value, item.fact.unit, percent=item.percent)
    if gold is None:
        return None
    name = rng.choice(item.names)
    slots = {"metric": name, "was": "were" if is_plural(name) else "was"}
    if isinstance(item.concept, NamedConcept):
        slots["means"] = item.concept.means
    if item.part is not None:
        the = f"the {item.part.name} segment" if item.part.kind == "segment" else item.part.name
        before = "from" if item.part.kind == "product" else "in"
        slots |= {"part": item.part.name, "of_part": f"{before} {the}", "to_part": f"to {the}"}
    words = " ".join((*item.names, item.part.name if item.part else ""))
    return _Draft(kind, slots, (item.period,), gold, (item.fact,), words, item.fact.operand)


def _over_time(kind: Comparison, item: Pair, rng: random.Random) -> _Draft | None:
    names = [name for name in item.after.names if name in item.before.names]
    if not names:
        return None
    gold, program = item.answer(kind)
    name = rng.choice(names)
    slots = {"metric": name, "was": "were" if is_plural(name) else "was"}
    periods = (item.before.period, item.after.period)
    return _Draft(kind, slots, periods, gold, (item.before.fact, item.after.fact), " ".join(names), program)


def _quotient(item: Ratio, rng: random.Random) -> _Draft:
    gold, program = item.answer()
    over_name = rng.choice(item.over.names)
    return _Draft(
        kind="ratio_percent" if item.form == "percent" else "ratio_times",
        slots={
            "over": over_name,
            "under": rng.choice(item.under.names),
            "was": "were" if is_plural(over_name) else "was",
        },
        periods=(item.over.period,),
        gold=gold,
        facts=(item.over.fact, item.under.fact),
        words=" ".join((*item.over.names, *item.under.names)),
        program=program,
    )

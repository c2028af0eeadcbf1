"""SEC-QA's four multi-document templates (arXiv 2406.14394; arXiv 2505.20368, appendix B.4) over tagged facts.

The values, units, periods and pages come from the inline XBRL of several annual reports. A fact counts only in the
filing of its own year, if the corpus has it, and only if all filings that print it agree.

Choices: the growth over n years compares the ends of a period n years apart; the percentage difference of a to b is
(a - b) / b; "highest" never ties; amounts are dollars.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations, islice, permutations, product
from typing import Final

from finray.core.questions import GoldEvidence, Question
from finray.lab.datasets.hashing import hashed_qid
from finray.lab.datasets.lofin_builder.rewriting import company_name
from finray.lab.datasets.xbrl.amounts import Amount, dollars, percentage
from finray.lab.datasets.xbrl.asked import Candidate, candidates, settled_facts
from finray.lab.datasets.xbrl.evidence import gold_evidence
from finray.lab.datasets.xbrl.multistep import REVENUES
from finray.lab.datasets.xbrl.phrasing import possessive
from finray.lab.datasets.xbrl.tagged import TaggedFiling

TEMPLATES: Final = ("secqa_dividends", "secqa_difference", "secqa_growth", "secqa_highest")
_DIVIDENDS: Final = ("PaymentsOfDividendsCommonStock", "PaymentsOfDividends")
_REVENUE: Final = "revenue"
_YEARS: Final = (2, 3, 4, 5)
_AMONG: Final = (3, 4)
_COMPARED: Final = (
    _REVENUE, "GrossProfit", "OperatingIncomeLoss", "NetIncomeLoss", "IncomeTaxExpenseBenefit",
    "ResearchAndDevelopmentExpense", "SellingGeneralAndAdministrativeExpense", "ShareBasedCompensation",
    "NetCashProvidedByUsedInOperatingActivities", "PaymentsToAcquirePropertyPlantAndEquipment",
    "PaymentsForRepurchaseOfCommonStock", "CashAndCashEquivalentsAtCarryingValue", "InventoryNet", "Goodwill",
    "AssetsCurrent", "Assets", "LiabilitiesCurrent", "LongTermDebtNoncurrent", "Liabilities", "StockholdersEquity",
)  # fmt: skip
"""Metrics for comparisons of companies of all industries."""
_COMPANIES: Final = 10
"""Companies of one comparison's metric and year, drawn at random: a corpus of hundreds has millions of pairs."""
_MAX_RATIO: Final = 50
"""Metrics whose values differ more are not compared."""
_NAMES: Final = {
    _REVENUE: "revenue",
    "PaymentsOfDividendsCommonStock": "common dividends",
    "PaymentsOfDividends": "dividends",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A company's value of one metric in one fiscal year, and the filing that prints it."""

    tagged: TaggedFiling
    candidate: Candidate

    @property
    def value(self) -> Decimal:
        return self.candidate.fact.value


@dataclass(frozen=True, slots=True)
class Draft:
    kind: str
    question: str
    gold: Amount
    shown: tuple[Shown, ...]
    program: str


@dataclass(slots=True)
class Facts:
    """``values`` by company name, metric and fiscal year."""

    values: dict[str, dict[str, dict[int, Shown]]] = field(default_factory=dict)

    def companies(self, rng: random.Random, year: int, *metrics: str) -> list[str]:
        """At most ten companies that have all ``metrics`` of ``year``."""
        found = sorted(name for name, own in self.values.items() if all(year in own.get(each, ()) for each in metrics))
        return rng.sample(found, min(len(found), _COMPANIES))

    def years(self) -> list[int]:
        return sorted({year for metrics in self.values.values() for years in metrics.values() for year in years})


def secqa_questions(filings: Sequence[TaggedFiling], *, most: int, seed: int) -> list[Question]:
    """At most ``most`` questions of each template about annual reports, the same for the same filings and ``seed``."""
    facts = annual_facts([tagged for tagged in filings if tagged.filing.form.startswith("10-K")])
    makers: Mapping[str, Callable[[Facts, random.Random], Iterator[Draft]]] = {
        "secqa_dividends": dividends, "secqa_difference": differences, "secqa_growth": growth, "secqa_highest": highest,
    }  # fmt: skip
    made = []
    for kind, maker in makers.items():
        rng = random.Random(f"{seed}:{kind}")
        drafts = list(maker(facts, rng))
        rng.shuffle(drafts)
        # Questions over several filings first: they are what the templates are for.
        drafts.sort(key=lambda draft: len({each.tagged.filing.filing_id for each in draft.shown}) < 2)
        made += [_question(draft, seed) for draft in islice(drafts, most)]
    return made


def annual_facts(filings: Sequence[TaggedFiling]) -> Facts:
    """Positive yearly and year-end amounts in dollars of whole companies, under the names of ``concepts.json``."""
    settled = settled_facts(filings)
    facts = Facts()
    for tagged in filings:
        own = facts.values.setdefault(company_name(tagged.filing), {})
        revenues: dict[int, list[Shown]] = defaultdict(list)
        for found in candidates(tagged, settled.get(tagged.filing.filing_id, frozenset())):
            fact, period = found.fact, found.period
            if found.part is not None or found.concept is None or fact.unit != "usd" or not fact.precise:
                continue
            if period.kind not in ("year", "year_end") or fact.value <= 0:
                continue
            metric = fact.concept.rpartition(":")[2]
            if metric in REVENUES:
                revenues[period.fiscal_year].append(Shown(tagged, found))
            else:
                own.setdefault(metric, {}).setdefault(period.fiscal_year, Shown(tagged, found))
        for year, each in revenues.items():
            if len({shown.value for shown in each}) == 1:  # net sales and total revenue are both "revenue"
                own.setdefault(_REVENUE, {}).setdefault(year, each[0])
    return facts


def dividends(facts: Facts, _rng: random.Random) -> Iterator[Draft]:
    """ "How much common dividends did {company} pay in the last {num_year} years in US dollars?" """
    for name, metrics in facts.values.items():
        paid = next((metrics[concept] for concept in _DIVIDENDS if concept in metrics), {})
        for year, number in _spans(paid, _YEARS):
            shown = tuple(paid[each] for each in range(year - number + 1, year + 1))
            total = dollars(sum((each.value for each in shown), Decimal(0)))
            question = (
                f"How much common dividends did {name} pay in the last {number} years, as of {year}, in US dollars?"
            )
            yield Draft("secqa_dividends", question, total, shown, " + ".join(map(_operand, shown)))


def differences(facts: Facts, rng: random.Random) -> Iterator[Draft]:
    """ "What is the percentage difference of {company1}'s {metric} compared to that of {company2}?" """
    for metric, year in product(_COMPARED, facts.years()):
        for names in combinations(facts.companies(rng, year, metric), 2):
            for first, second in (names, names[::-1]):
                ours, theirs = (facts.values[name][metric][year] for name in (first, second))
                quotient = ours.value / theirs.value
                if ours.value == theirs.value or not 1 / Decimal(_MAX_RATIO) < quotient < _MAX_RATIO:
                    continue
                question = (
                    f"What is the percentage difference of {possessive(first)} {_name(metric, ours)} compared "
                    f"to that of {second} in fiscal {year}?"
                )
                program = f"({_operand(ours)} / {_operand(theirs)} - 1) * 100"
                yield Draft("secqa_difference", question, percentage((quotient - 1) * 100), (ours, theirs), program)


def growth(facts: Facts, _rng: random.Random) -> Iterator[Draft]:
    """ "What is {company}'s overall revenue growth over the last {num_year}-year period?" """
    for name, metrics in facts.values.items():
        earned = metrics.get(_REVENUE, {})
        for year, number in product(sorted(earned), _YEARS):
            if year - number not in earned:
                continue
            before, now = earned[year - number], earned[year]
            question = (
                f"What is {possessive(name)} overall revenue growth over the last {number}-year period, from "
                f"fiscal {year - number} to fiscal {year}?"
            )
            gold = percentage((now.value / before.value - 1) * 100)
            program = f"({_operand(now)} / {_operand(before)} - 1) * 100"
            yield Draft("secqa_growth", question, gold, (before, now), program)


def highest(facts: Facts, rng: random.Random) -> Iterator[Draft]:
    """ "Among {company_names}, what is the {metric2} of the company that has the highest {metric1}?" """
    for year, (ranking, metric) in product(facts.years(), permutations(_COMPARED, 2)):
        both = facts.companies(rng, year, ranking, metric)
        for size in _AMONG:
            names = both[:size]
            if len(names) < size:
                break
            ranked = [facts.values[name][ranking][year] for name in names]
            top, second = sorted((each.value for each in ranked), reverse=True)[:2]
            best = next(name for name, each in zip(names, ranked, strict=True) if each.value == top)
            answer = facts.values[best][metric][year]
            if top != second:
                question = (
                    f"Among {', '.join(names[:-1])} and {names[-1]}, what is the {_name(metric, answer)} of the "
                    f"company that has the highest {_name(ranking, ranked[0])} in fiscal {year}?"
                )
                yield Draft("secqa_highest", question, dollars(answer.value), (*ranked, answer), _operand(answer))


def _spans(years: Mapping[int, Shown], lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(last year, number of years) of each run of years without a gap."""
    for year in sorted(years):
        for number in lengths:
            if all(each in years for each in range(year - number + 1, year + 1)):
                yield year, number


def _name(metric: str, shown: Shown) -> str:
    return _NAMES.get(metric) or shown.candidate.names[0]


def _operand(shown: Shown) -> str:
    company = shown.tagged.filing.ticker or company_name(shown.tagged.filing)
    return f"{company}:{shown.candidate.fact.operand}"


def _question(draft: Draft, seed: int) -> Question:
    identity = f"{draft.kind}|{draft.question}|{draft.program}|{seed}"
    return Question(
        qid=hashed_qid("secqa", identity),
        question=draft.question,
        answer=draft.gold.text,
        question_type=draft.kind,
        evidence=evidence_of(draft.shown),
        value=draft.gold.value,
        unit=draft.gold.unit,
        program=draft.program,
        source="secqa",
    )


def evidence_of(shown: Sequence[Shown]) -> tuple[GoldEvidence, ...]:
    """The gold pages of the facts, grouped by filing."""
    by_filing: dict[str, list[Shown]] = defaultdict(list)
    for each in shown:
        by_filing[each.tagged.filing.filing_id].append(each)
    return tuple(
        gold
        for own in by_filing.values()
        for gold in gold_evidence(
            own[0].tagged,
            [each.candidate.fact for each in own],
            " ".join(name for each in own for name in each.candidate.names),
        )
    )

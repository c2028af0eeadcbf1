"""Follow-ups of a conversation as questions complete in themselves."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.core.roles import Resolution
from finray.question.companies.catalog import CompanyCatalog
from finray.question.follow_ups.conversation import RuleConversation
from finray.question.rule_reader import RuleReader


def _filing(name: str, cik: str, ticker: str) -> Filing:
    return Filing(f"f{cik}", f"{name}_10K", "", "", name, "10-K", cik=cik, ticker=ticker, fiscal_year=2023)


RULES = RuleReader(
    CompanyCatalog(
        [
            _filing("Acme Corporation", "1", "ACM"),
            _filing("PepsiCo, Inc.", "2", "PEP"),
            _filing("Microsoft Corporation", "3", "MSFT"),
            _filing("Best Buy Co., Inc.", "4", "BBY"),
        ]
    )
)
CONVERSATION = RuleConversation(RULES)
REVENUE = "What was Acme's revenue in fiscal 2023?"
GROWTH = "How much did Acme's revenue grow from 2021 to 2022?"
QUARTER = "What was Acme's net income in Q3 2023?"
BALANCE = "What were PepsiCo's total assets at the end of fiscal 2022?"
WORDS = "How much did Acme spend on marketing in 2023?"


def resolve(follow_up: str, *earlier: str) -> Resolution:
    return CONVERSATION.resolved(follow_up, earlier)


@dataclass(frozen=True)
class Read:
    companies: tuple[str, ...]
    periods: tuple[str, ...]
    metrics: tuple[str, ...]


def read(question: str) -> Read:
    query = RULES.understand(question, question)
    return Read(query.companies, tuple(map(str, query.periods)), query.metrics)


def _keys(names: str) -> tuple[str, ...]:
    return RULES.companies(names).known


# (earlier, follow-up, companies, periods, metrics)
FOLLOW_UPS = [
    (REVENUE, "and in 2021?", "Acme", "FY 2021", "revenue"),
    (REVENUE, "And in fiscal 2022?", "Acme", "FY 2022", "revenue"),
    (REVENUE, "2021?", "Acme", "FY 2021", "revenue"),
    (REVENUE, "how about FY21", "Acme", "FY 2021", "revenue"),
    (REVENUE, "What about Q2 2022?", "Acme", "Q2 2022", "revenue"),
    (REVENUE, "and Q2?", "Acme", "Q2 2023", "revenue"),
    (REVENUE, "and in the second quarter?", "Acme", "Q2 2023", "revenue"),
    (REVENUE, "And the year before?", "Acme", "FY 2022", "revenue"),
    (REVENUE, "and the previous year", "Acme", "FY 2022", "revenue"),
    (REVENUE, "two years earlier?", "Acme", "FY 2021", "revenue"),
    (REVENUE, "And the following year?", "Acme", "FY 2024", "revenue"),
    (REVENUE, "What about PepsiCo?", "PepsiCo", "FY 2023", "revenue"),
    (REVENUE, "and Microsoft", "Microsoft", "FY 2023", "revenue"),
    (REVENUE, "PepsiCo?", "PepsiCo", "FY 2023", "revenue"),
    (REVENUE, "same for Best Buy please", "Best Buy", "FY 2023", "revenue"),
    (REVENUE, "How about MSFT in 2021?", "Microsoft", "FY 2021", "revenue"),
    (REVENUE, "What about Microsoft in Q1 2022?", "Microsoft", "Q1 2022", "revenue"),
    (REVENUE, "what about microsoft?", "Microsoft", "FY 2023", "revenue"),
    (REVENUE, "and net income?", "Acme", "FY 2023", "net_income"),
    (REVENUE, "What about its operating income?", "Acme", "FY 2023", "operating_income"),
    (REVENUE, "What was its net income?", "Acme", "FY 2023", "net_income"),
    (REVENUE, "What was net income?", "Acme", "FY 2023", "net_income"),
    (REVENUE, "How much was the company's net income in 2022?", "Acme", "FY 2022", "net_income"),
    (REVENUE, "And PepsiCo's net income?", "PepsiCo", "FY 2023", "net_income"),
    (REVENUE, "What was net income that year?", "Acme", "FY 2023", "net_income"),
    (REVENUE, "What was its net income the year before?", "Acme", "FY 2022", "net_income"),
    (REVENUE, "What was Acme's net income?", "Acme", "FY 2023", "net_income"),
    (REVENUE, "What was Microsoft's revenue?", "Microsoft", "FY 2023", "revenue"),
    (REVENUE, "why?", "Acme", "FY 2023", "revenue"),
    (REVENUE, "Why did it fall?", "Acme", "FY 2023", "revenue"),
    (REVENUE, "what drove that?", "Acme", "FY 2023", "revenue"),
    (REVENUE, "And the growth?", "Acme", "FY 2023", "revenue"),
    (REVENUE, "By how much did it grow?", "Acme", "FY 2023", "revenue"),
    (REVENUE, "How does that compare with 2022?", "Acme", "FY 2023|FY 2022", "revenue"),
    (REVENUE, "compared to 2021?", "Acme", "FY 2023|FY 2021", "revenue"),
    (REVENUE, "versus the prior year?", "Acme", "FY 2023|FY 2022", "revenue"),
    (REVENUE, "How does that compare to PepsiCo?", "Acme|PepsiCo", "FY 2023", "revenue"),
    (REVENUE, "in millions?", "Acme", "FY 2023", "revenue"),
    (REVENUE, "in North America?", "Acme", "FY 2023", "revenue"),
    (REVENUE, "and for the cloud segment?", "Acme", "FY 2023", "revenue"),
    (GROWTH, "and net income?", "Acme", "FY 2021|FY 2022", "net_income"),
    (GROWTH, "what about PepsiCo?", "PepsiCo", "FY 2021|FY 2022", "revenue"),
    (GROWTH, "and the year before?", "Acme", "FY 2020|FY 2021", "revenue"),
    (GROWTH, "why?", "Acme", "FY 2021|FY 2022", "revenue"),
    (GROWTH, "And from 2019 to 2020?", "Acme", "FY 2019|FY 2020", "revenue"),
    (QUARTER, "and the quarter before?", "Acme", "Q2 2023", "net_income"),
    (QUARTER, "and in Q3 2022?", "Acme", "Q3 2022", "net_income"),
    (QUARTER, "and in Q1?", "Acme", "Q1 2023", "net_income"),
    (QUARTER, "And for the full year?", "Acme", "FY 2023", "net_income"),
    (QUARTER, "the same quarter a year earlier?", "Acme", "Q3 2022", "net_income"),
    (BALANCE, "And total liabilities?", "PepsiCo", "FY 2022", "total_liabilities"),
    (BALANCE, "What about Acme at the end of 2021?", "Acme", "FY 2021", "total_assets"),
    (WORDS, "And in 2022?", "Acme", "FY 2022", ""),
    (WORDS, "what about Microsoft?", "Microsoft", "FY 2023", ""),
    (WORDS, "and on research?", "Acme", "FY 2023", ""),
    ("What was Acme's revenue in 2022 in North America?", "and net income?", "Acme", "FY 2022", "net_income"),
    (WORDS, "did it grow?", "Acme", "FY 2023", ""),
    (REVENUE, "what about 2022 net income", "Acme", "FY 2022", "net_income"),
    (REVENUE, "ok, now PepsiCo's", "PepsiCo", "FY 2023", "revenue"),
    (REVENUE, "both PepsiCo and Microsoft?", "PepsiCo|Microsoft", "FY 2023", "revenue"),
    (REVENUE, "was it higher than in 2022?", "Acme", "FY 2023|FY 2022", "revenue"),
    (REVENUE, "and for 2020 and 2021?", "Acme", "FY 2020|FY 2021", "revenue"),
    (REVENUE, "what was the average over 2020 to 2022?", "Acme", "FY 2020|FY 2021|FY 2022", "revenue"),
    (REVENUE, "over the last three years?", "Acme", "", "revenue"),
    ("Which company had the highest revenue in 2023?", "and in 2022?", "", "FY 2022", "revenue"),
    ("List the risk factors of Acme in 2023", "and PepsiCo?", "PepsiCo", "FY 2023", ""),
    ("Who is the chief executive officer of PepsiCo?", "And of Microsoft?", "Microsoft", "", ""),
    ("What was Nokia's revenue in 2022?", "And Microsoft?", "Microsoft", "FY 2022", "revenue"),
]


@pytest.mark.parametrize(("earlier", "follow_up", "companies", "periods", "metrics"), FOLLOW_UPS)
def test_a_follow_up_takes_what_it_lacks(
    earlier: str, follow_up: str, companies: str, periods: str, metrics: str
) -> None:
    found = resolve(follow_up, earlier)
    assert not found.unclear
    got = read(found.question)
    wanted = tuple(key for name in companies.split("|") for key in _keys(name))
    assert set(got.companies) == set(wanted), found.question
    assert set(got.periods) == {period for period in periods.split("|") if period}, found.question
    assert set(got.metrics) == {metric for metric in metrics.split("|") if metric}, found.question


UNCHANGED = [
    (REVENUE, "What was PepsiCo's net income in 2021?"),
    (REVENUE, "Who is Microsoft's chief executive officer?"),
    (REVENUE, "Which company had the highest revenue in 2022?"),
    (REVENUE, "How much did PepsiCo's operating income grow from 2019 to 2020 compared with its revenue?"),
    (REVENUE, "What was Best Buy's inventory at the end of fiscal 2022, in millions?"),
]


@pytest.mark.parametrize(("earlier", "question"), UNCHANGED)
def test_a_question_complete_in_itself_is_left_unchanged(earlier: str, question: str) -> None:
    assert resolve(question, earlier) == Resolution(question)


UNCLEAR = [
    (REVENUE, "and last year?"),
    (REVENUE, "thanks!"),
    (REVENUE, "Hello"),
    (REVENUE, "And in June?"),
    (REVENUE, "and the quarter before?"),
    ("What was Acme's revenue?", "and the year before?"),
    ("Did Acme or PepsiCo have more revenue in 2023?", "what about Microsoft?"),
    ("Did Acme or PepsiCo have more revenue in 2023?", "What was its net income?"),
    (GROWTH, "What was its net income?"),
    (REVENUE, "since 2020?"),
    (REVENUE, "diluted?"),
    ("How large were the chargebacks that Acme deducted from gross revenues in 2022?", "By how much did it grow?"),
    ("How large were the chargebacks that Acme deducted from gross revenues in 2022?", "and net income?"),
    ("Schedule II of Acme's 2022 annual report: what was the receivables allowance?", "and net income?"),
    ("What was Acme's revenue in 2022 in North America?", "By how much did it grow?"),
    ("akq 2022: deposits, how much", "what was its net income?"),
    (REVENUE, "and '21?"),
    (REVENUE, "are you sure?"),
    (GROWTH, "What was it in 2021?"),
    (GROWTH, "and to 2023?"),
    ("Which company had the highest revenue in 2023?", "what was its net income?"),
    ("What was Acme's average gross margin from 2019 to 2022?", "and in 2023?"),
    ("In Acme's 2022 10-K, what was research and development expense in 2021?", "and in 2020?"),
    ("What was Acme's net income as a percentage of revenue in 2023?", "and operating income?"),
]


@pytest.mark.parametrize(("earlier", "follow_up"), UNCLEAR)
def test_what_may_mean_two_things_is_not_guessed(earlier: str, follow_up: str) -> None:
    found = resolve(follow_up, earlier)
    assert found.unclear
    assert found.question == follow_up


def test_a_conversation_goes_on_from_what_was_understood() -> None:
    asked = ["What was Acme's revenue in fiscal 2023?", "and in 2021?", "thanks", "what about PepsiCo?", "why?"]
    steps = [resolve(question, *asked[:number]).question for number, question in enumerate(asked)]
    assert steps[1] == "What was Acme's revenue in 2021?"
    assert steps[3] == "What was PepsiCo's revenue in 2021?"
    assert steps[4] == "What was PepsiCo's revenue in 2021, and why?"
    assert resolve("and net income?", *asked).question == "What was PepsiCo's net income in 2021?"


def test_a_part_replaces_the_part_before_it() -> None:
    first = resolve("in North America?", REVENUE).question
    assert first == "What was Acme's revenue in fiscal 2023 in North America?"
    assert resolve("and in Europe?", first).question == "What was Acme's revenue in fiscal 2023 in Europe?"


def test_an_unknown_company_is_never_swapped_for_the_known_one() -> None:
    for follow_up in ("What about Nokia?", "and for Nokia?", "And Nokia's?"):
        assert resolve(follow_up, REVENUE).question == "What was Nokia's revenue in fiscal 2023?"
    assert resolve("Nokia?", REVENUE).unclear
    assert "Nokia" in resolve("What was Nokia's net income?", REVENUE).question


_WORDS = [
    *("and", "what about", "its", "the year before", "2021", "Acme", "PepsiCo", "revenue", "why", "grow", "in", "of"),
    *("?", ",", "that", "compare with", "Q2", "fiscal", "net income", "segment", "as a percentage", "%", "Nokia"),
]
_COMPANIES = st.sampled_from(["Acme", "PepsiCo", "Microsoft", "Best Buy"])
_METRICS = st.sampled_from(["revenue", "net income", "total assets", "inventory", "gross margin", "marketing spend"])
_PERIODS = st.sampled_from(
    ["in fiscal 2021", "in 2022", "in Q3 2023", "for the year ended December 31, 2020", "in 2019"]
)
_SHAPES = st.sampled_from(
    [
        "{lead}{company}?",
        "{lead}{period}?",
        "{lead}{company} {period}?",
        "{lead}{metric}?",
        "{lead}{metric} {period}?",
        "What was its {metric}?",
        "What was {company}'s {metric}?",
        "What was {metric} {period}?",
        "What was {company}'s {metric} {period}?",
        "By how much did it grow?",
        "By how much did it grow {period}?",
        "why?",
        "Why {period}?",
        "the year before?",
        "in millions?",
        "{lead}the growth {period}?",
        "How does that compare with {company}?",
        "How did that compare with {company} {period}?",
    ]
)


@settings(max_examples=8)
@given(
    asked=st.lists(
        st.tuples(_SHAPES, _COMPANIES, _METRICS, _PERIODS, st.sampled_from(["", "and ", "what about "])),
        min_size=1,
        max_size=4,
    ),
    first=st.tuples(_COMPANIES, _METRICS, _PERIODS),
)
def test_what_a_question_names_is_never_inherited(
    asked: list[tuple[str, str, str, str, str]], first: tuple[str, str, str]
) -> None:
    """The property that counts: companies and periods that a follow-up names are those that are answered."""
    company, metric, period = first
    earlier = [f"What was {company}'s {metric} {period}?"]
    for shape, company, metric, period, lead in asked:
        question = shape.format(company=company, metric=metric, period=period, lead=lead)
        found = resolve(question, *earlier)
        got, named = read(found.question), read(question)
        if not found.unclear:
            assert set(named.companies) <= set(got.companies)
            assert set(named.periods) <= set(got.periods)
            if "compare" not in question:
                assert not named.companies or set(named.companies) == set(got.companies)
                assert not named.periods or set(named.periods) == set(got.periods)
            assert resolve(found.question, *earlier).question == found.question or "grow" in found.question
        earlier.append(question)


@settings(max_examples=20)
@given(st.text(max_size=200), st.lists(st.text(max_size=100), max_size=4))
def test_any_text_is_resolved_to_a_question_or_to_what_is_unclear(question: str, earlier: list[str]) -> None:
    found = resolve(question, *earlier)
    assert isinstance(found.question, str)
    assert found.question or not question.split()


@settings(max_examples=25)
@given(st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join))
def test_any_words_of_follow_ups_keep_what_they_name(question: str) -> None:
    found = resolve(question, REVENUE)
    if found.unclear or found.question == question:
        return
    got, named = read(found.question), read(" ".join(question.split()))
    assert set(named.companies) <= set(got.companies) <= {*named.companies, *_keys("Acme")}
    assert set(named.periods) <= set(got.periods)

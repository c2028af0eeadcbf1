"""A bulk run asks about one company after another, and each worker about its own companies."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from finray.batch.topics import by_topic, topics_in
from finray.core.filing import Filing
from finray.core.questions import Question
from finray.question.companies.catalog import CompanyCatalog

CATALOG = CompanyCatalog(
    [Filing("a", "a", "", "", "Torvane Inc", "10-K"), Filing("b", "b", "", "", "Grevandor Systems Inc", "10-K")]
)


def named(companies: list[str]) -> list[Question]:
    return [Question(str(number), f"What was the revenue of {name}?") for number, name in enumerate(companies)]


def by_name(question: Question) -> tuple[str, ...]:
    return (question.question.rpartition(" ")[2],)


def test_the_topic_is_the_companies_that_a_question_names() -> None:
    topic_of = topics_in(CATALOG)
    both, swapped, none = (
        Question("q", text)
        for text in (
            "Did Torvane or Grevandor Systems have more cash?",
            "Did Grevandor Systems or Torvane have more cash?",
            "Who audits the company?",
        )
    )
    assert len(topic_of(both)) == 2
    assert topic_of(both) == topic_of(swapped)
    assert topic_of(none) == ()


def test_one_worker_gets_company_after_company() -> None:
    asked = by_topic(named(["Acme", "Brill", "Acme", "Cord", "Brill", "Acme"]), by_name, streams=1)
    assert [question.qid for question in asked] == ["0", "2", "5", "1", "4", "3"]


def test_each_of_two_workers_gets_its_own_companies() -> None:
    asked = by_topic(named(["Acme", "Brill"] * 3 + ["Cord"] * 2), by_name, streams=2)
    first, second = ({by_name(question) for question in stream} for stream in (asked[0:6:2], asked[1:6:2]))
    assert first.isdisjoint(second)


@given(st.lists(st.sampled_from("ABCDEFG")), st.integers(1, 9))
def test_every_question_is_asked_once_in_streams_of_whole_topics(companies: list[str], streams: int) -> None:
    questions = named(companies)
    asked = by_topic(questions, by_name, streams)
    assert Counter(asked) == Counter(questions)
    if streams == 1:
        assert len(list(groupby(asked, by_name))) == len(set(companies))

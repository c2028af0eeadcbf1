"""What a quotation must hold to answer: the kind of thing that the question asks for."""

from __future__ import annotations

import pytest

from finray.answering.sentences.kinds import asked_kind, introduces, is_pointer
from finray.filings.pages.sentences import Sentence
from finray.question.rule_reader import plain_query


def _sentence(text: str) -> Sentence:
    fields = dict.fromkeys(Sentence.__dataclass_fields__, 0)
    return Sentence(**{**fields, "text": text, "heading": ""})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question,answers,others",
    [
        (
            "How many employees did Acme have at the end of 2021?",
            [
                "We employed approximately 309,000 people worldwide.",
                "Our employees totaled 51,200.",
                "We have no employees.",
            ],
            ["The restructuring accrual of $120 million for employees is paid by 2022.", "Acme was founded in 1921."],
        ),
        (
            "How many people does Acme employ, and in how many countries?",
            ["Each of our 57,500 full- and part-time employees counts."],
            ["We owned 12,465 patents in various countries."],
        ),
        (
            "How many phones did Acme sell?",
            ["We sold 12 million phones."],
            ["Phone 16, Phone 16 Plus and other products", "Sales of phones rose 5%."],
        ),
        (
            "Who is the CEO of Acme?",
            ["Jane B. Doe, Chief Executive Officer", "/s/ J. Doe", "Mr. Doe has served as CEO since 2019."],
            ["Only our Board of Directors, Chair, or CEO may call a Special Meeting."],
        ),
        ("When did the merger close?", ["It closed on June 11, 2019."], ["The merger closed."]),
        ("Where is Acme's head office?", ["Our office is located in Austin, Texas."], ["We own our office."]),
        (
            "What portion of sales came from China?",
            ["It was 17% of sales.", "Half of sales."],
            ["Sales in China fell."],
        ),
        (
            "How much did Acme spend on advertising?",
            ["Advertising was $5.1 billion.", "We had no advertising."],
            ["Advertising is expensed as incurred.", "Advertising costs were as follows:"],
        ),
        (
            "Why did margins fall?",
            ["Margins fell, see Note 5, due to prices."],
            ["See pages A-6 through A-7 for further discussion.", "For more information, see Note 5."],
        ),
        ("Which note describes leases?", ["For more information, see Note 5."], []),
    ],
)
def test_only_a_sentence_with_the_kind_of_thing_answers(question: str, answers: list[str], others: list[str]) -> None:
    kind = asked_kind(plain_query(question))

    assert [text for text in answers if not kind.held_by(_sentence(text))] == []
    assert [text for text in others if kind.held_by(_sentence(text))] == []


def test_a_figure_of_a_table_counts_only_what_stands_beside_it() -> None:
    kind = asked_kind(plain_query("How many stores does Acme run?"))

    assert kind.may_be_cell(frozenset({"store", "europ"}))
    assert not kind.may_be_cell(frozenset({"restructur", "accrual"}))


def test_pointers_and_introductions_are_told_apart_from_statements() -> None:
    assert is_pointer("Refer to Note 7, “Income Taxes”.")
    assert not is_pointer("Sales rose 5%.")
    assert introduces("The following table summarizes net sales by segment.")
    assert not introduces("Net sales rose, as the table shows, by 5%.")

"""Answers put together from words, a program and cells by name."""

from __future__ import annotations

import re

import pytest

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer, CitedCell
from finray.core.settings import SandboxSettings
from finray.hirec.composed import Composer, Written
from finray.hirec.shown import Shown, ShownCell, ShownPart
from finray.sandbox.runner import Sandbox

PAGE = Passage("ACME_10K", "f", 40, 0, 30, "Current assets 1,577 1,400\nCurrent liabilities 900 1,000", 1.0)
TABLE = """|  | A: 2024 | B: 2023 |
| 1 Current assets | 1,577 | 1,400 |
| 2 Current liabilities | 900 | 1,000 |
| 3 Rate | 12.5% | |"""
PROSE = Passage("ACME_10K", "f", 12, 0, 9, "Demand fell by 4% because Zorblax left.", 1.0)


def cell(name: str, value: float, text: str, unit: str = "USD") -> ShownCell:
    return ShownCell(CitedCell(name, value, "ACME_10K", "f", 40, "row", text), unit, (PAGE,))


SHOWN = Shown(
    (
        ShownPart(TABLE, "ACME_10K, p. 41", (PAGE,), re.sub(r"\b\d (?=[A-Z])|[AB]: ", "", TABLE)),
        ShownPart(PROSE.text, "ACME_10K, p. 13", (PROSE,), PROSE.text),
    ),
    {
        "c1A1": cell("c1A1", 1577e6, "1,577"),
        "c1B1": cell("c1B1", 1400e6, "1,400"),
        "c1A2": cell("c1A2", 900e6, "900"),
        "c1B2": cell("c1B2", 1000e6, "1,000"),
        "c1A3": cell("c1A3", 12.5, "12.5%", "percent"),
    },
)


@pytest.fixture(scope="module")
def composer() -> Composer:
    return Composer(Sandbox(SandboxSettings(isolation="process")))


async def composed(
    composer: Composer, text: str = "", program: str = "", unit: str = "", question: str = "How much?"
) -> Answer:
    return await composer.answer(Written(text, program, unit), (PAGE,), SHOWN, question, Journal())


async def test_a_cells_name_is_its_exact_value(composer: Composer) -> None:
    answer = await composed(composer, program="answer = c1A1", unit="USD")
    assert (answer.text, answer.value, answer.unit, answer.grounded) == ("$1,577 million", 1577e6, "USD", True)
    assert [cited.name for cited in answer.operands] == ["c1A1"]
    assert answer.evidence == (PAGE,)


async def test_scale_and_rounding_are_the_questions(composer: Composer) -> None:
    question = "What were current assets, in USD billions, with one decimal place?"
    answer = await composed(composer, program="answer = c1A1", unit="USD", question=question)
    assert (answer.text, answer.value) == ("$1.6 billion", 1.6e9)
    question = "What is the growth rate with two decimal places?"
    answer = await composed(composer, program="answer = (c1A1 / c1B1 - 1) * 100", unit="percent", question=question)
    assert (answer.text, answer.value) == ("12.64%", 12.64)


async def test_words_and_a_program_together(composer: Composer) -> None:
    answer = await composed(
        composer,
        "Yes: the current ratio (above 1 is sound) rose from {before} to {answer}, as current assets were {c1A1}.",
        "before = c1B1 / c1B2\nanswer = c1A1 / c1A2",
        "ratio",
    )
    assert answer.text == (
        "Yes: the current ratio (above 1 is sound) rose from 1.40 to 1.75, as current assets were $1,577 million."
    )
    assert answer.value == pytest.approx(1.7522, abs=1e-4)
    assert answer.grounded
    assert {cited.name for cited in answer.operands} == {"c1A1", "c1B1", "c1A2", "c1B2"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Yes, it is sound.", "Yes, it is sound. (1.75)"),
        ("Yes, at 1.75 it is sound.", "Yes, at 1.75 it is sound."),
        ("Yes, at {answer:percent} it is sound.", "Yes, at 1.8% it is sound."),
    ],
)
async def test_the_result_is_always_shown_and_a_derived_figure_is_grounded(
    composer: Composer, text: str, shown: str
) -> None:
    answer = await composed(composer, text, "answer = c1A1 / c1A2", "ratio")
    assert (answer.text, answer.grounded) == (shown, True)


async def test_a_figure_of_nobody_is_named(composer: Composer) -> None:
    answer = await composed(composer, "It was 1.75, against 2.31 for peers.", "answer = c1A1 / c1A2", "ratio")
    assert answer.grounded is False
    assert "2.31" in answer.text.partition("Not grounded")[2]
    answer = await composed(composer, program="answer = c1A1 - 123456789", unit="USD")
    assert answer.grounded is False


async def test_words_alone_may_name_cells(composer: Composer) -> None:
    answer = await composed(composer, "The rate was {c1A3}, on assets of {c1A1}.")
    assert (answer.text, answer.value, answer.grounded) == (
        "The rate was 12.5%, on assets of $1,577 million.",
        None,
        True,
    )


async def test_a_cell_adds_the_passage_that_prints_it(composer: Composer) -> None:
    answer = await composer.answer(Written("", "answer = c1A1", "USD"), (PROSE,), SHOWN, "How much?", Journal())
    assert answer.evidence == (PROSE, PAGE)
    assert answer.grounded


@pytest.mark.parametrize(
    ("text", "program", "problem"),
    [
        ("", "answer = c9A9", "there is no cell c9A9"),
        ("It was {margin}.", "answer = c1A1 / c1A2", "margin"),
        ("It was {c9A9}.", "", "c9A9"),
        ("", "answer = 'a lot'", "not a number"),
        ("", "import os", "no result"),
        ("It was {answer}.", "", "answer"),
    ],
)
async def test_what_cannot_be_put_together_is_unusable(
    composer: Composer, text: str, program: str, problem: str
) -> None:
    with pytest.raises(ModelReplyError, match=problem):
        await composed(composer, text, program, "ratio")


async def test_a_cells_number_is_no_figure(composer: Composer) -> None:
    """The 3 of c1A2 does not make a constant 3 printed."""
    answer = await composed(composer, program="answer = c1A2 + 3", unit="USD")
    assert answer.grounded is False


async def test_a_power_of_ten_is_a_scale_even_if_its_digits_are_printed(composer: Composer) -> None:
    page = Passage("ACME_10K", "f", 2, 0, 9, "6 plants; assets of 5,308 and debts of 4,476 and 10 others", 1.0)
    shown = Shown((ShownPart(page.text, "ACME_10K, p. 3", (page,), page.text),))
    program = "answer = (5308 * 10**6 - 4476 * 10**6) / (4476 * 10**6)"
    answer = await composer.answer(Written("", program, "ratio"), (page,), shown, "How much?", Journal())
    assert answer.grounded


@pytest.mark.parametrize(
    ("program", "text"), [("answer = 4169484", "4,169,484 shares"), ("answer = 766 * 10**6", "766 million shares")]
)
async def test_a_count_of_shares_is_not_rounded(composer: Composer, program: str, text: str) -> None:
    answer = await composed(composer, program=program, unit="shares")
    assert answer.text.startswith(text)

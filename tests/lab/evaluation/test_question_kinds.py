"""FinGEAR's question types: by the answer, and by the steps of the program."""

from __future__ import annotations

import pytest

from finray.core.questions import Question
from finray.lab.evaluation.question_kinds import answer_kind, complexity, program_steps


@pytest.mark.parametrize(
    ("answer", "value", "kind"),
    [
        ("yes", None, "categorical"),
        ("No.", 0.0, "categorical"),
        ("1.4%", None, "numerical"),
        ("$5,735 million", 5.735e9, "numerical"),
        ("Yes, by 5% in 2022.", None, "categorical"),
        ("no — it fell", None, "categorical"),
        ("no debt was repaid", None, None),
        ("Not before 2027", None, None),
        ("It opened 12 stores in Ohio and closed 3", None, None),
        ("The margin was 12.5% in 2022", 12.5, "numerical"),
        (None, None, None),
    ],
)
def test_yes_and_no_are_categorical_and_numbers_numerical(answer: str | None, value: float | None, kind: str) -> None:
    unit = "percent" if answer and "%" in answer else None
    assert answer_kind(Question("q", "?", answer, value=value, unit=unit)) == kind


@pytest.mark.parametrize(
    ("program", "steps"),
    [
        ("subtract(5829, 5735)", 1),
        ("subtract(5829, 5735), divide(#0, 5735)", 2),
        ("table_average(net revenue, none)", 1),
        ("greater(10.5, 9.8)", 1),
        ("us-gaap:Revenues[2022-12-03..2023-12-01, adbe:SubscriptionRevenueMember]", 0),
        ("us-gaap:GrossProfit[2025-01-01..2025-06-27] / us-gaap:Revenues[2025-01-01..2025-06-27] * 100", 1),
        ("(us-gaap:GrossProfit[2025-03-30..2025-06-28] / us-gaap:GrossProfit[2024-03-31..2024-06-29] - 1) * 100", 2),
        ("a + b - c", 2),
    ],
)
def test_steps_of_programs(program: str, steps: int) -> None:
    assert program_steps(program) == steps
    assert complexity(Question("q", "?", program=program)) == ("complex" if steps > 1 else "simple")


def test_without_a_program_the_complexity_is_unknown() -> None:
    assert complexity(Question("q", "?")) is None

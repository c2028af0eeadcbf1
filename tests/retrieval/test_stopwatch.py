from __future__ import annotations

from dataclasses import replace

from finray.core.predictions import TokenUsage
from finray.index.extensions.extension import Cost
from finray.retrieval.stopwatch import Stopwatch


def test_a_row_costs_its_time_and_the_tokens_of_its_model() -> None:
    cost = Stopwatch().cost(TokenUsage(30, 3, 0.5), nodes=4, unusable=1)
    assert replace(cost, seconds=0.0, processor_seconds=0.0) == Cost(0.0, 0.0, 4, 30, 3, 0.5, 1)
    assert cost.seconds > 0 and cost.processor_seconds >= 0

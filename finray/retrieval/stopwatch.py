"""Measures what it takes to make the row of one filing of an extension."""

from __future__ import annotations

import time

from finray.core.predictions import TokenUsage
from finray.index.extensions.extension import Cost


class Stopwatch:
    """Runs from its creation on."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def cost(self, usage: TokenUsage, nodes: int = 0, unusable: int = 0) -> Cost:
        """The time so far, and what a language model used meanwhile."""
        return Cost(
            time.perf_counter() - self._wall,
            time.process_time() - self._processor,
            nodes,
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cost,
            unusable,
        )

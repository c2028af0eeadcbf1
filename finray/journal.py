"""What happened while one question was answered: trace lines, and tokens by stage."""

from __future__ import annotations

from finray.types import TokenUsage


class Journal:
    """One question's own; roles write to it, the prediction carries it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.usage: dict[str, TokenUsage] = {}

    def note(self, line: str) -> None:
        self.lines.append(line)

    def spend(self, stage: str, usage: TokenUsage) -> None:
        self.usage[stage] = self.usage.get(stage, TokenUsage()) + usage

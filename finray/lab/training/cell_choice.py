"""What ``finray.answering.cell_choice`` is fitted as."""

from __future__ import annotations

from typing import Final, TypeAlias

from finray.answering.cell_choice import SIGNALS, best_cell, signals
from finray.answering.cell_features import CellCandidates
from finray.lab.training.choices import ChoiceQuestion, ChoiceTask

CellQuestion: TypeAlias = ChoiceQuestion[CellCandidates]

CELLS: Final = ChoiceTask[CellCandidates](SIGNALS, best_cell, signals, wrong=0.02)

"""What ``finray.answering.figure_choice`` is fitted as."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from finray.answering.figure_choice import SIGNALS, signals
from finray.answering.figure_features import FigureCandidates
from finray.lab.training.choices import ChoiceQuestion, ChoiceTask

FigureQuestion: TypeAlias = ChoiceQuestion[FigureCandidates]

FIGURES: Final = ChoiceTask[FigureCandidates](SIGNALS, lambda _, scores: int(np.argmax(scores)), signals, wrong=0.02)

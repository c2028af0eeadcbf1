"""What ``finray.answering.sentences.figure_choice`` is fitted as."""

from __future__ import annotations

from typing import Final, TypeAlias

from finray.answering.sentences.figure_choice import SIGNALS, signals
from finray.answering.sentences.figure_features import FigureCandidates
from finray.lab.training.choices import ChoiceQuestion, ChoiceTask, highest_score

FigureQuestion: TypeAlias = ChoiceQuestion[FigureCandidates]

FIGURES: Final = ChoiceTask[FigureCandidates](SIGNALS, highest_score, signals, wrong=0.02)

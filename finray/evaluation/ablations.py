"""The ablations of HiREC (arXiv 2505.20368, tables 4 and 5) by switch: each is a few settings, none a fork."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ablation:
    """``settings`` are laid over the preset; ``meaning`` is one line for a person."""

    meaning: str
    settings: Mapping[str, str | int | bool]


ABLATIONS: Mapping[str, Ablation] = {
    "full": Ablation("the preset as it is", {}),
    "no-hierarchy": Ablation("passages from the whole index, no choice of filings", {"retrieval.hierarchical": False}),
    "no-curation": Ablation("answer from the first retrieval; no filter, no second question", {"loop.curate": False}),
    "no-filter": Ablation("judge whether it suffices, but keep every passage", {"loop.filter": False}),
    "no-transformation": Ablation("retrieve for the question as asked", {"loop.transform": "none"}),
    "one-iteration": Ablation("i_max 1", {"loop.i_max": 1}),
    "two-iterations": Ablation("i_max 2", {"loop.i_max": 2}),
}
"""The paper's remaining one, without fine-tuning, is a choice of weights: ``passage_reranker.model``."""

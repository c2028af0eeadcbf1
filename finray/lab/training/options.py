"""Hyperparameters of a training run. Published recipes are the defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Precision = Literal["auto", "float32", "bfloat16"]
NegativeKind = Literal["tables", "mixed", "any"]
"""``tables`` is HiREC's recipe (arXiv 2505.20368): tables of other pages. ``mixed`` adds as many other texts, so that
the model does not learn that all prose is positive. ``any`` ignores the kind."""


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """Options that determine the trained weights, together with the data.

    ``base`` is "minilm" (the embedded all-MiniLM-L6-v2), a folder or a hub name at ``revision``. ``warmup`` is the
    share of steps over which the learning rate rises. ``hard`` of the ``negatives`` share the most words with the
    question; the rest is random. The prefixes come from the bi-encoder's card (e5: "query: ", "passage: ").
    ``max_steps`` 0 means all epochs.
    """

    base: str
    learning_rate: float = 2e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    epochs: float = 3.0
    max_steps: int = 0
    batch_size: int = 16
    accumulate: int = 1
    max_tokens: int = 512
    negatives: int = 8
    hard: int = 0
    negative_kind: NegativeKind = "tables"
    query_prefix: str = ""
    passage_prefix: str = ""
    seed: int = 0
    revision: str = ""

    def as_dict(self) -> dict[str, Any]:
        """All fields, without an empty revision, for compatibility with records of earlier runs."""
        return {name: value for name, value in asdict(self).items() if name != "revision" or value}


@dataclass(frozen=True, slots=True)
class Machine:
    """Options that affect how a run uses the machine, but not its result beyond rounding.

    ``device`` "auto" uses a GPU if there is one; ``precision`` "auto" uses bf16 if the hardware is fast at it.
    ``threads`` limits the CPU threads; 0 is PyTorch's default.
    """

    device: str = "auto"
    precision: Precision = "auto"
    threads: int = 0
    checkpoint_steps: int = 200


PAGE_SCORER = Hyperparameters(base="minilm", epochs=3.0, negatives=4, hard=4, negative_kind="any")
"""A bi-encoder over whole pages with in-document hard negatives, after the domain fine-tuned page scorer of arXiv
2602.17981. Learning rate, warm-up and batch size are the usual ones of sentence-transformers."""

RERANKER = Hyperparameters(base="minilm", epochs=2.0, negatives=8, hard=0, negative_kind="tables")
"""HiREC's passage reranker (arXiv 2505.20368): binary cross-entropy, 8 negatives per question, sampled from tables of
other pages. The paper's base model is DeBERTa-v3 base."""

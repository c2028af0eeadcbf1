"""Hyperparameters of a training run, with the published recipes as defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Precision = Literal["auto", "float32", "bfloat16"]
NegativeKind = Literal["tables", "mixed", "any"]
"""``tables`` is HiREC's recipe (arXiv 2505.20368): tables of other pages. ``mixed`` takes as many that are not tables,
so that being text is no sign of being right. ``any`` does not look."""


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """What decides the trained weights, apart from the data.

    ``base`` is "minilm" (the embedded all-MiniLM-L6-v2), a folder or a hub name at ``revision``. ``warmup`` is the
    share of steps over which the learning rate rises. ``hard`` of the ``negatives`` are those that share most words
    with the question, the rest is random. The prefixes are what a bi-encoder's card asks for (e5: "query: ",
    "passage: "). ``max_steps`` 0 means all epochs.
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
        """Without a revision where there is none, as in the records of earlier runs."""
        return {name: value for name, value in asdict(self).items() if name != "revision" or value}


@dataclass(frozen=True, slots=True)
class Machine:
    """How a run uses the machine; does not decide what is learned beyond rounding.

    ``device`` "auto" takes the GPU where there is one; ``precision`` "auto" computes in bf16 where the hardware
    does that fast. ``threads`` limits the CPU threads, 0 leaves torch's own choice.
    """

    device: str = "auto"
    precision: Precision = "auto"
    threads: int = 0
    checkpoint_steps: int = 200


PAGE_SCORER = Hyperparameters(base="minilm", epochs=3.0, negatives=4, hard=4, negative_kind="any")
"""A bi-encoder over whole pages with in-document hard negatives, after the domain fine-tuned page scorer of arXiv
2602.17981. The learning rate, warm-up and batch size are sentence-transformers' customary ones."""

RERANKER = Hyperparameters(base="minilm", epochs=2.0, negatives=8, hard=0, negative_kind="tables")
"""HiREC's passage reranker (arXiv 2505.20368): binary cross-entropy, 8 negatives a question, sampled tables of other
pages. The paper's base is DeBERTa-v3 base."""

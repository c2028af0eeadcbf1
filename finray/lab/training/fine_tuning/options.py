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
    page_characters: int = 0
    """For the page scorer: white space of a page is collapsed and a longer page cut; 0 leaves pages as they are."""
    gold_tables: bool = False
    """For the reranker: each table of a gold page is right and gets its own ``negatives``, instead of the chunk that is
    most similar to question and answer. Questions whose gold pages have no table, or whose evidence is
    text (LOFin's part "numeric_text"), are left out."""
    titles: bool = False
    """For the reranker: company, form and period stand before each chunk, as in the method ``hirec``."""

    def as_dict(self) -> dict[str, Any]:
        """All fields, without empty newer ones, for compatibility with records of earlier runs."""
        return {name: value for name, value in asdict(self).items() if name not in _NEWER or value}


_NEWER = ("revision", "page_characters", "gold_tables", "titles")


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
"""finray's own recipe: a bi-encoder over whole pages with in-document hard negatives. Learning rate, warm-up and batch
size are the usual ones of sentence-transformers."""

PUBLISHED_PAGE_SCORER = Hyperparameters(
    base="BAAI/bge-m3",
    revision="main",
    learning_rate=2e-5,
    epochs=15.0,
    batch_size=16,
    max_tokens=1024,
    negatives=0,
    negative_kind="any",
    page_characters=2000,
)
"""The recipe of arXiv 2602.17981, section 4.7: in-batch negatives only. Warm-up, weight decay and the limit of tokens
are not stated there."""

RERANKER = Hyperparameters(base="minilm", epochs=2.0, negatives=8, hard=0, negative_kind="tables")
"""finray's own recipe for small machines: binary cross-entropy, 8 negatives per question, sampled from tables of other
pages."""

PUBLISHED_RERANKER = Hyperparameters(
    base="naver/trecdl22-crossencoder-debertav3",
    revision="main",
    learning_rate=2e-7,
    warmup=0.0,
    epochs=3.0,
    batch_size=128,
    negatives=8,
    negative_kind="tables",
    gold_tables=True,
    titles=True,
)
"""The recipe of arXiv 2505.20368, sections 4.1.2 and 5.1, for FinQA questions with gold pages: binary cross-entropy
over the tables of the evidence page and, for each, 8 tables of other pages. Warm-up and weight decay are not stated
there; docs/systems/hirec.md says why the base is a DeBERTa-v3 that can already rank."""

RECIPES: dict[str, dict[str, dict[str, Any]]] = {
    "page-scorer": {"page-scorer": {**asdict(PUBLISHED_PAGE_SCORER), "folds": 5}},
    "reranker": {"hirec": {**asdict(PUBLISHED_RERANKER), "hold_out": 0.0}},
}
"""Published recipes of each command by name: values of its options."""

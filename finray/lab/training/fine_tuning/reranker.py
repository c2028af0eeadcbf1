"""The passage reranker: a cross-encoder over (question, passage) with one output.

Binary cross-entropy over gold passages and sampled passages of other pages (HiREC, arXiv 2505.20368: tables of the
evidence page, and 8 tables of other pages for each). A base model that is not a cross-encoder gets a new head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from finray.core.arrays import Floats
from finray.lab.training.fine_tuning.corpus import Corpus, TrainingQuestion
from finray.lab.training.fine_tuning.negatives import NegativeSampler
from finray.lab.training.fine_tuning.options import Hyperparameters, Machine
from finray.lab.training.fine_tuning.trainer import Task, base_folder, loading
from finray.models import hub


def reranker_columns(
    corpus: Corpus, questions: Sequence[TrainingQuestion], options: Hyperparameters
) -> dict[str, list[Any]]:
    """Columns query, passage, label (1.0 for gold); rows are grouped by question, gold first.

    With ``gold_tables``, each gold unit has its own negatives.
    """
    sampler = NegativeSampler(corpus, options)
    columns: dict[str, list[Any]] = {"query": [], "passage": [], "label": []}
    for question in questions:
        gold = corpus.gold_units(question)
        pairs = [(unit, 1.0) for unit in gold]
        for key in [unit.key for unit in gold] if options.gold_tables else [""]:
            pairs += [(unit, 0.0) for unit in sampler.of(question, key)]
        for unit, label in pairs:
            columns["query"].append(question.question)
            columns["passage"].append(unit.text)
            columns["label"].append(label)
    return columns


def reranker_task(columns: dict[str, list[Any]], options: Hyperparameters, device: str) -> Task:
    """Raises ModelUnavailableError."""
    import torch
    from sentence_transformers import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

    from finray.models.transformer_encoder import token_positions

    folder = base_folder(options.base)
    with loading(folder):
        model = CrossEncoder(
            folder,
            num_labels=1,
            device=device,
            model_kwargs={"dtype": torch.float32, **hub.WEIGHTS},
            **hub.source(folder, options.revision),
        )
    model.max_seq_length = min(options.max_tokens, token_positions(model.config))
    return Task(
        trainer=CrossEncoderTrainer,
        arguments=CrossEncoderTrainingArguments,
        model=model,
        loss=BinaryCrossEntropyLoss(model),
        columns=columns,
        # The default search for unused parameters reports all as unused, because the output is not a plain dict.
        extra={"ddp_find_unused_parameters": False},
    )


class PassageScorer:
    """Scores passages with the cross-encoder of retrieval."""

    def __init__(self, model: str, options: Hyperparameters, machine: Machine) -> None:
        import torch

        from finray.core.settings import RerankerSettings
        from finray.models.reranker import load_reranker

        if machine.threads:
            torch.set_num_threads(machine.threads)
        self._reranker = load_reranker(
            RerankerSettings(
                model=model, revision=options.revision, max_tokens=options.max_tokens, device=machine.device
            )
        )

    def __call__(self, question: str, texts: Sequence[str]) -> Floats:
        """float64 [len(texts)]."""
        return np.asarray(self._reranker.scores(question, texts), dtype=np.float64)

"""The page scorer: a bi-encoder of questions and whole pages.

The multiple negatives ranking loss compares the gold page with the pages of other questions in the batch (arXiv
2602.17981; Henderson et al. 2017, arXiv 1705.00652) and, unless ``negatives`` is 0, with other pages of the same
filing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from finray.core.arrays import Floats
from finray.lab.training.fine_tuning.corpus import Corpus, TrainingQuestion
from finray.lab.training.fine_tuning.negatives import NegativeSampler
from finray.lab.training.fine_tuning.options import Hyperparameters, Machine
from finray.lab.training.fine_tuning.trainer import Task, base_folder, loading
from finray.models import hub
from finray.retrieval.methods.page_scorer import normalized_page


def page_scorer_columns(
    corpus: Corpus, questions: Sequence[TrainingQuestion], options: Hyperparameters
) -> dict[str, list[str]]:
    """Columns anchor, positive, negative_1, ..., with a row for each gold page of each question. Pages are cut to
    ``page_characters``."""
    sampler = NegativeSampler(corpus, options)
    names = ["anchor", "positive", *(f"negative_{number + 1}" for number in range(options.negatives))]
    columns: dict[str, list[str]] = {name: [] for name in names}
    for question in questions:
        negatives = sampler.of(question)
        if options.negatives and not negatives:
            continue  # a filing of one page has no other page
        for gold in corpus.gold_units(question):
            pages = [normalized_page(unit.text, options.page_characters) for unit in (gold, *negatives)]
            texts = [options.passage_prefix + page for page in pages]
            for name, text in zip(names, [options.query_prefix + question.question, *texts], strict=True):
                columns[name].append(text)
    return columns


def page_scorer_task(columns: dict[str, list[str]], options: Hyperparameters, device: str) -> Task:
    """Raises ModelUnavailableError."""
    import torch
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.base.sampler import BatchSamplers
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    from finray.models.transformer_encoder import token_positions

    folder = base_folder(options.base)
    with loading(folder):
        model = SentenceTransformer(
            folder,
            device=device,
            model_kwargs={"dtype": torch.float32, **hub.WEIGHTS},
            **hub.source(folder, options.revision),
        )
    model.max_seq_length = min(options.max_tokens, token_positions(model.config))
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    return Task(
        trainer=SentenceTransformerTrainer,
        arguments=SentenceTransformerTrainingArguments,
        model=model,
        loss=MultipleNegativesRankingLoss(model, gather_across_devices=several),
        columns=columns,
        # A page that occurs twice in a batch would be its own negative.
        extra={"batch_sampler": BatchSamplers.NO_DUPLICATES},
    )


class PageScorer:
    """Scores texts by cosine similarity with the encoder of retrieval; encodes each text once."""

    def __init__(self, model: str, options: Hyperparameters, machine: Machine) -> None:
        from finray.core.settings import EncoderSettings
        from finray.models.encoder_loading import load_encoder

        settings = EncoderSettings(
            model=model,
            revision=options.revision,
            max_tokens=options.max_tokens,
            query_prefix=options.query_prefix,
            passage_prefix=options.passage_prefix,
            device=machine.device,
        )
        self._encoder = load_encoder(settings, threads=machine.threads or None)
        self._page_characters = options.page_characters
        self._vectors: dict[str, np.ndarray] = {}

    def __call__(self, question: str, texts: Sequence[str]) -> Floats:
        """float64 [len(texts)]."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        pages = [normalized_page(text, self._page_characters) for text in new]
        self._vectors.update(zip(new, self._encoder.encode_passages(pages), strict=True))
        query = self._encoder.encode_query(question)
        return np.asarray([float(self._vectors[text] @ query) for text in texts])

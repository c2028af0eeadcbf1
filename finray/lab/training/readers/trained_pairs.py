"""Reads questions beside texts while the transformer is trained."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np
import torch

from finray.filings.prose.figures import prose_figures
from finray.lab.training.minilm_module import Bert
from finray.models.bert.tokens import token_ids, token_spans
from finray.models.devices import fast_bf16
from finray.models.pair_reader import QUESTION_TOKENS, Pair, packed_pairs, text_places
from finray.models.sentence_reader import SENTENCE_TOKENS

_PARTS = 4
"""Forward passes of a batch on a processor, each over sequences of like length."""
Spans = list[tuple[int, int]]


class TrainedPairs:
    """Computes the states of PairReader with gradients. ``bert`` is on ``device``."""

    def __init__(self, bert: Bert, device: torch.device) -> None:
        self._bert, self._device = bert, device
        # Each text is read many times: in each epoch, and beside many questions.
        self._question_tokens = cache(partial(token_ids, limit=QUESTION_TOKENS, both_ends=True))
        self._text_tokens = cache(token_ids)
        self.figures = cache(self._figures)

    def states(self, pairs: Sequence[tuple[str, str]], limit: int) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """[pairs, STATE] of questions and the first ``limit`` tokens of texts, and the states of each text's tokens."""
        read = [(self._question_tokens(asked), self._text_tokens(text, limit) if text else []) for asked, text in pairs]
        order = sorted(range(len(read)), key=lambda at: len(read[at][0]) + len(read[at][1]))
        parts, tokens = [], []
        size = -(-len(order) // (_PARTS if self._device.type == "cpu" else 1))
        for numbers in (order[start : start + size] for start in range(0, len(order), size)):
            with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=fast_bf16(self._device)):
                states, own = read_pairs(self._bert, [read[at] for at in numbers])
            parts.append(states)
            tokens += own
        back = np.argsort(order)
        return torch.cat(parts)[torch.tensor(back, device=self._device)], [tokens[at] for at in back]

    def _figures(self, text: str) -> tuple[Spans, Spans]:
        """Spans of the figures of a sentence, in characters and in tokens."""
        places = [(figure.start, figure.end) for figure in prose_figures(text)]
        return places, token_spans(text, SENTENCE_TOKENS, places)


def read_pairs(bert: Bert, pairs: Sequence[Pair]) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """[pairs, STATE], the first state and the mean of all; and for each pair the states of its second part's tokens."""
    states = bert(packed_pairs(pairs))
    pooled = torch.stack([torch.cat([own[0], own.mean(0)]) for own in states])
    return pooled, [own[second] for own, second in zip(states, text_places(pairs), strict=True)]

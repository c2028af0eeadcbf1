"""What MiniLM makes of each token of a text, for small models that label words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from finray.models.minilm import minilm_folder

MAX_TOKENS = 256
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenStates:
    """``spans[i]`` is where token i stands in the text. ``contextual`` and ``static`` are float32 [tokens, 384]: the
    last hidden states, and the embeddings without context; ``mean`` [384] is the mean state."""

    spans: Sequence[tuple[int, int]]
    contextual: Floats
    static: Floats
    mean: Floats


class MiniLmTokens:
    """all-MiniLM-L6-v2 on the CPU. Thread-safe. Raises ModelUnavailableError if its package is missing."""

    def __init__(self) -> None:
        # Imported here: torch and transformers take 3 s, and most readers of questions run without them.
        import torch
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging as transformers_logging

        from finray.models.devices import fast_bf16

        folder = str(minilm_folder())
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModel.from_pretrained(folder).eval()
        if fast_bf16(torch.device("cpu")):  # cosines to float32 of .9999, in 60% of the time
            self._model.to(torch.bfloat16)
        self._inference_mode = torch.inference_mode

    def states(self, text: str) -> TokenStates:
        """Of the first 256 tokens; of none for a text without any."""
        tokens = self._tokenizer(
            text, return_tensors="pt", truncation=True, max_length=MAX_TOKENS, return_offsets_mapping=True
        )
        spans = [(int(a), int(b)) for a, b in tokens.pop("offset_mapping")[0][1:-1]]
        with self._inference_mode():
            hidden = self._model(**tokens).last_hidden_state[0].float()
            static = self._model.embeddings.word_embeddings(tokens["input_ids"])[0].float()
        return TokenStates(spans, hidden[1:-1].numpy(), static[1:-1].numpy(), hidden.mean(0).numpy())


class MiniLmSentences:
    """An encoder of sentences from these token states, loaded when it is first used."""

    dimension = 384

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        """float32 [len(texts), 384], rows of unit length."""
        means = np.stack([minilm_tokens().states(text).mean for text in texts])
        vectors: Floats = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    def encode_query(self, text: str) -> Floats:
        """float32 [384], unit length."""
        vector: Floats = self.encode_passages([text])[0]
        return vector


@cache
def minilm_tokens() -> MiniLmTokens:
    """The model, loaded once per process."""
    return MiniLmTokens()

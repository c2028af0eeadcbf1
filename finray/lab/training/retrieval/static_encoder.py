"""Distils a transformer encoder into one vector per token of its vocabulary (``finray.models.static_encoder``).

The recipe is model2vec's (Tulkens and van Dongen 2024, github.com/MinishLab/model2vec): encode each token alone, reduce
the vectors by PCA, and weigh them by rarity. How rare a token is, the texts of an index show, without any question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from finray.models.encoder import Encoder, Vectors
from finray.models.static_encoder import UNKNOWN, TokenVectors, word_pieces

Counts = npt.NDArray[np.int64]
SMOOTHING = 1e-3
"""The parameter of smooth inverse frequency weights (Arora et al. 2017): a / (a + p)."""
_CONTINUATION = "##"
_SPECIAL = re.compile(r"\[(?:UNK|CLS|SEP|PAD|MASK|unused\d+)\]")
_AT_ONCE = 2_048
MOST_TEXTS = 12_000
"""Texts whose tokens are counted; a random sample of those of an index."""


def distil(
    encoder: Encoder,
    tokens: Sequence[str],
    counts: Counts,
    dimension: int,
    progress: Callable[[int, int], None] | None = None,
) -> TokenVectors:
    """Vectors of ``tokens``, a WordPiece vocabulary, in at most ``dimension`` components. ``counts`` int64
    [len(tokens)] says how often each occurs."""
    words = [token.removeprefix(_CONTINUATION) for token in tokens]
    parts: list[Vectors] = []
    for start in range(0, len(words), _AT_ONCE):
        parts.append(encoder.encode_passages(words[start : start + _AT_ONCE]))
        if progress is not None:
            progress(min(start + _AT_ONCE, len(words)), len(words))
    vectors = principal_components(np.vstack(parts), dimension) * rarity(counts)[:, None]
    vectors[[index for index, token in enumerate(tokens) if _SPECIAL.fullmatch(token)]] = 0.0
    return TokenVectors(tuple(tokens), vectors.astype(np.float32))


def principal_components(vectors: Vectors, dimension: int) -> Vectors:
    """``vectors`` float32 [n, d], centered, on their first ``dimension`` principal axes. Each axis points to the side
    of its largest entry, so that repeated runs agree."""
    centered = (vectors - vectors.mean(axis=0)).astype(np.float64)
    _, axes = np.linalg.eigh(centered.T @ centered)
    axes = axes[:, ::-1][:, :dimension]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    reduced: Vectors = (centered @ axes).astype(np.float32)
    return reduced


def token_counts(tokens: Sequence[str], texts: Sequence[str]) -> Counts:
    """int64 [len(tokens)]: how often each token occurs in ``texts``, or in a sample of them."""
    tokenizer = word_pieces(tokens)
    chosen = np.random.default_rng(0).permutation(len(texts))[:MOST_TEXTS]
    counts = np.zeros(len(tokens), dtype=np.int64)
    for row in chosen:
        counts += np.bincount(tokenizer.encode(texts[row], add_special_tokens=False).ids, minlength=len(tokens))
    return counts


def rarity(counts: Counts) -> Vectors:
    """float32 [n]: the weight of each token."""
    share = (counts + 0.5) / (counts + 0.5).sum()
    weights: Vectors = (SMOOTHING / (SMOOTHING + share)).astype(np.float32)
    return weights


def vocabulary(lines: str) -> list[str]:
    """The tokens of a ``vocab.txt``. Raises ValueError if it lacks the unknown token."""
    tokens = lines.removesuffix("\n").split("\n")
    if UNKNOWN not in tokens:
        raise ValueError(f"the vocabulary has no {UNKNOWN}; only WordPiece models can be distilled")
    return tokens

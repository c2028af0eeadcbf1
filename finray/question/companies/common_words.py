"""Words so common that they are hardly meant as the name of a company without a capital: "cost", "target", "block"."""

from __future__ import annotations

from functools import cache

from finray.models.static_encoder import shipped_vocabulary

_MOST = 3_500
"""Rank of the rarest one. "ford" and "target" are among the first 3,500 words, "apple" and "visa" are not."""


@cache
def common_words() -> frozenset[str]:
    """The most frequent words of MiniLM's vocabulary, which lists whole words by their frequency in English text.
    Raises ModelUnavailableError."""
    words = (token for token in shipped_vocabulary() if token.isascii() and token.isalpha() and len(token) > 1)
    return frozenset([word for word, _ in zip(words, range(_MOST), strict=False)])

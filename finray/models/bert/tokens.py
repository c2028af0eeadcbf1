"""MiniLM's WordPiece tokens of questions, rows and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from finray.models.minilm import minilm_folder

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CLS: Final = 101
SEP: Final = 102
Span = tuple[int, int]


@cache
def minilm_tokenizer() -> Tokenizer:
    """MiniLM's tokenizer, without truncation and padding. Raises ModelUnavailableError if its package is missing."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def tokens_of(texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, without CLS and SEP."""
    encodings = minilm_tokenizer().encode_batch([_encodable(text) for text in texts], add_special_tokens=False)
    return [encoding.ids for encoding in encodings]


def token_ids(text: str, limit: int, *, both_ends: bool = False) -> list[int]:
    """The first ``limit`` tokens of ``text``; with ``both_ends``, half of them from its end."""
    found, _ = placed_tokens(text)
    if len(found) <= limit:
        return found
    half = limit // 2
    return found[:half] + found[half - limit :] if both_ends else found[:limit]


def placed_tokens(text: str) -> tuple[list[int], list[Span]]:
    """The tokens of ``text``, and the span of characters of each."""
    encoding = minilm_tokenizer().encode(_encodable(text), add_special_tokens=False)
    return encoding.ids, encoding.offsets


def token_spans(text: str, limit: int, marked: Sequence[Span]) -> list[Span]:
    """For each span of characters in ``marked``, the span of tokens that it touches among the first ``limit`` of
    ``text``; (0, 0) if none."""
    _, offsets = placed_tokens(text)
    found = []
    for start, end in marked:
        touched = [number for number, (first, last) in enumerate(offsets[:limit]) if first < end and last > start]
        found.append((touched[0], touched[-1] + 1) if touched else (0, 0))
    return found


def _encodable(text: str) -> str:
    """``text`` with a question mark for each half of a surrogate pair, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")

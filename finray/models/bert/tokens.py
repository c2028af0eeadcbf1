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
    """Cuts and pads nothing. Raises ModelUnavailableError if MiniLM's package is missing."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def tokens_of(texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, without marks."""
    read = minilm_tokenizer().encode_batch([_whole(text) for text in texts], add_special_tokens=False)
    return [own.ids for own in read]


def token_ids(text: str, limit: int, *, both_ends: bool = False) -> list[int]:
    """The tokens of ``text``, at most ``limit``: the first ones, with ``both_ends`` half of them the last."""
    found: list[int] = minilm_tokenizer().encode(_whole(text), add_special_tokens=False).ids
    if len(found) <= limit:
        return found
    half = limit // 2
    return found[:half] + found[half - limit :] if both_ends else found[:limit]


def placed_tokens(text: str) -> tuple[list[int], list[Span]]:
    """The tokens of ``text`` and where each stands in it."""
    read = minilm_tokenizer().encode(_whole(text), add_special_tokens=False)
    return read.ids, read.offsets


def token_spans(text: str, limit: int, marked: Sequence[Span]) -> list[Span]:
    """The tokens, from and to, that stretches of characters of ``text`` consist of; (0, 0) past the first ``limit``."""
    _, offsets = placed_tokens(text)
    read = offsets[:limit]
    reach = read[-1][1] if read else 0
    found = []
    for start, end in marked:
        inside = [at for at, (first, last) in enumerate(read) if first < end and last > start] if start < reach else []
        found.append((inside[0], inside[-1] + 1) if inside else (0, 0))
    return found


def _whole(text: str) -> str:
    """``text`` with a question mark for each half of a surrogate pair, which has no tokens."""
    return text.encode("utf-8", "replace").decode("utf-8")

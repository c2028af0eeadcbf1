"""A static encoder: one vector per token; a text's vector is their sum. It needs no torch and encodes, per processor
second, a few dozen times as many passages as the transformer that it was distilled from.

The token vectors are the transformer's vectors of single tokens, reduced by PCA and weighted by how rare a token is
(the recipe of model2vec, github.com/MinishLab/model2vec). ``finray train static-encoder`` makes them
(``finray.lab.training.retrieval.static_encoder``). The file that comes with finray holds the vocabulary too, and each
vector as int8 with its own scale.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from finray.core.errors import ModelUnavailableError
from finray.models.encoder import Vectors

UNKNOWN = "[UNK]"
_INT8 = 127
_MOST_BYTES = 64 * 1024**2
_WORD = re.compile(r"[^ \t\r\n]+")
"""Splits at the white space that all tokenizers split at. At other white space of str.split, the tokenizer decides."""
_CHARACTERS_KEPT = 2_000_000
"""Characters of the words whose tokens are cached."""
_TEXTS = 64
"""Texts of one step, whose words are in memory together."""
_SHIPPED = resources.files("finray.models") / "static_encoder.npz"


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """``tokens`` is a WordPiece vocabulary in lower case, ``vectors`` float32 [len(tokens), dimension] its weighted
    vectors. The vector of the unknown token is zero."""

    tokens: tuple[str, ...]
    vectors: Vectors


class StaticEncoder:
    """``finray.models.encoder.Encoder`` over token vectors. A text's vector does not depend on others, and no text is
    cut: ``encoder.max_tokens`` does not apply. A text without known tokens gets the first unit vector."""

    def __init__(self, table: TokenVectors) -> None:
        self._tokenizer = word_pieces(table.tokens)
        self._vectors = table.vectors
        self._pieces: dict[str, Sequence[int]] = {}
        self._kept = 0

    @property
    def dimension(self) -> int:
        return int(self._vectors.shape[1])

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        sums = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS):
            self._add(sums[start : start + _TEXTS], texts[start : start + _TEXTS])
        sums[~sums.any(axis=1), 0] = 1.0
        unit: Vectors = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return unit

    def encode_query(self, text: str) -> Vectors:
        vector: Vectors = self.encode_passages([text])[0]
        return vector

    def _add(self, sums: Vectors, texts: Sequence[str]) -> None:
        """Add the vectors of each text's tokens to its row of ``sums``."""
        texts_words = [_WORD.findall(text.encode("utf-8", "replace").decode("utf-8")) for text in texts]
        pieces = self._pieces_of({word for words in texts_words for word in words})
        ids = [[piece for word in words for piece in pieces[word]] for words in texts_words]
        size = len(self._vectors)
        # The distinct tokens of all texts at once: a number is that of a text and a token.
        owner = np.repeat(np.arange(len(texts)) * size, [len(own) for own in ids])
        numbers, counts = np.unique(owner + np.asarray([*chain(*ids)], dtype=np.int64), return_counts=True)
        vectors, counted = self._vectors[numbers % size], counts.astype(np.float32)
        bounds = np.searchsorted(numbers, np.arange(len(texts) + 1) * size).tolist()
        for row, (start, stop) in zip(sums, pairwise(bounds), strict=True):
            if start < stop:
                row += counted[start:stop] @ vectors[start:stop]

    def _pieces_of(self, words: set[str]) -> Mapping[str, Sequence[int]]:
        """The tokens of each word, which do not depend on its neighbors. They are cached, because the tokenizer takes
        most of the time of encoding."""
        found = {word: pieces for word in words if (pieces := self._pieces.get(word)) is not None}
        if unknown := list(words.difference(found)):
            encoded = self._tokenizer.encode_batch_fast(unknown, add_special_tokens=False)
            found.update(zip(unknown, (each.ids for each in encoded), strict=True))
            self._kept += sum(map(len, unknown))
            if self._kept > _CHARACTERS_KEPT:
                self._pieces, self._kept = {}, 0
            self._pieces.update((word, found[word]) for word in unknown)
        return found


def word_pieces(tokens: Sequence[str]) -> Any:
    """BERT's lower-case WordPiece tokenizer over ``tokens``; ids are indexes into it."""
    # Imported here: parsers import the roles of encoders and get as little as they need.
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@cache
def shipped_static_encoder() -> StaticEncoder:
    """The encoder that comes with finray. Raises ModelUnavailableError if its file is missing or damaged."""
    try:
        with _SHIPPED.open("rb") as stream:
            return StaticEncoder(read_token_vectors(stream, _SHIPPED.name))
    except FileNotFoundError as error:
        raise ModelUnavailableError(f"{_SHIPPED.name} is missing: reinstall finray") from error


@cache
def shipped_vocabulary() -> tuple[str, ...]:
    """The tokens of the encoder that comes with finray, in the order of its vocabulary. Raises
    ModelUnavailableError."""
    try:
        with _SHIPPED.open("rb") as stream, np.load(stream, allow_pickle=False) as saved:
            return _tokens(saved)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise ModelUnavailableError(f"{_SHIPPED.name} is missing or damaged ({error}): reinstall finray") from error


def load_static_encoder(path: str) -> StaticEncoder:
    """An encoder that ``finray train static-encoder`` wrote. Raises ModelUnavailableError."""
    try:
        with Path(path).open("rb") as stream:
            return StaticEncoder(read_token_vectors(stream, path))
    except OSError as error:
        raise ModelUnavailableError(f"cannot read the static encoder {path!r}: {error}") from error


def read_token_vectors(stream: IO[bytes], where: str) -> TokenVectors:
    """Read the file ``where``. Raises ModelUnavailableError if it is damaged or of another kind."""
    try:
        with zipfile.ZipFile(stream) as archive:
            if (size := sum(member.file_size for member in archive.infolist())) > _MOST_BYTES:
                raise ValueError(f"it unpacks to {size:,} bytes")
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as saved:
            tokens = _tokens(saved)
            steps, scales = saved["steps"], saved["scales"]
        if steps.dtype != np.int8 or steps.ndim != 2 or not steps.shape[1] or scales.shape != (len(steps),):
            raise ValueError(f"its vectors are {steps.dtype} {steps.shape} with scales {scales.shape}")
        if len(tokens) != len(steps) or len(set(tokens)) != len(tokens) or UNKNOWN not in tokens:
            raise ValueError(f"it has {len(tokens):,} tokens and {len(steps):,} vectors")
        vectors = steps.astype(np.float32) * scales.astype(np.float32)[:, None]
        if not np.isfinite(vectors).all():
            raise ValueError("its vectors are not finite")
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ModelUnavailableError(
            f"{where!r} is no static encoder: {error}; make it again with `finray train static-encoder`"
        ) from error
    return TokenVectors(tokens, vectors)


def _tokens(saved: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(bytes(saved["tokens"]).decode("utf-8").split("\n"))


def write_token_vectors(stream: IO[bytes], table: TokenVectors) -> None:
    """The file that ``read_token_vectors`` reads: ``tokens`` as UTF-8 lines, ``steps`` int8 [n, d], ``scales``
    float32 [n]."""
    steps, scales = quantized(table.vectors)
    tokens = np.frombuffer("\n".join(table.tokens).encode("utf-8"), dtype=np.uint8)
    np.savez_compressed(stream, tokens=tokens, steps=steps, scales=scales)


def quantized(vectors: Vectors) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Each row as int8 steps and the size of one step, so that the largest component is 127 steps."""
    scales = np.abs(vectors).max(axis=1) / _INT8
    steps = np.rint(vectors / np.where(scales == 0, 1.0, scales)[:, None]).astype(np.int8)
    return steps, scales.astype(np.float32)

"""One vector per token, distilled from MiniLM."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import ModelUnavailableError
from finray.core.settings import EncoderSettings
from finray.models import static_encoder
from finray.models.encoder_loading import encoder_dimension, load_encoder
from finray.models.static_encoder import (
    StaticEncoder,
    TokenVectors,
    read_token_vectors,
    shipped_static_encoder,
    word_pieces,
    write_token_vectors,
)

PASSAGES = [
    "Capital expenditures were $1.6 billion in 2018, mostly for plant and equipment.",
    "The board declared a quarterly dividend of $0.25 per share.",
    "We lease offices and data centers; the leases expire until 2031.",
]
TOKENS = ("[UNK]", "net", "sales", "rose", "##s")


def table(rows: int = len(TOKENS), dimension: int = 3) -> TokenVectors:
    vectors = np.random.default_rng(1).normal(size=(rows, dimension)).astype(np.float32)
    vectors[0] = 0.0
    return TokenVectors(TOKENS[:rows], vectors)


def saved(given: TokenVectors) -> io.BytesIO:
    stream = io.BytesIO()
    write_token_vectors(stream, given)
    stream.seek(0)
    return stream


@pytest.mark.parametrize(
    ("question", "best"),
    [("How much was spent on capex for equipment?", 0), ("What dividends were paid?", 1), ("When do leases end?", 2)],
)
def test_it_finds_the_passage_that_answers(question: str, best: int) -> None:
    encoder = shipped_static_encoder()
    vectors = encoder.encode_passages(PASSAGES)
    assert int(np.argmax(vectors @ encoder.encode_query(question))) == best


@given(st.lists(st.text(max_size=200), max_size=5))
def test_any_text_has_a_vector_of_unit_length(texts: list[str]) -> None:
    encoder = shipped_static_encoder()
    vectors = encoder.encode_passages(texts)
    assert vectors.shape == (len(texts), encoder.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_a_passage_has_the_same_vector_however_many_come_with_it() -> None:
    encoder = shipped_static_encoder()
    together = encoder.encode_passages(PASSAGES * 50)
    for row, passage in enumerate(PASSAGES):
        alone = encoder.encode_query(passage)
        assert (together[row :: len(PASSAGES)] == alone).all()


@given(st.lists(st.text(st.sampled_from("net sales rose\t\n\x1c\x85\xa0\u2009é\u0301中-.0"), max_size=20), max_size=4))
def test_tokens_are_those_of_the_whole_text(texts: list[str]) -> None:
    rows = table()
    tokenizer = word_pieces(rows.tokens)
    for text, vector in zip(texts, StaticEncoder(rows).encode_passages(texts), strict=True):
        total = rows.vectors[tokenizer.encode(text, add_special_tokens=False).ids].sum(axis=0)
        expected = total / np.linalg.norm(total) if total.any() else [1.0, 0.0, 0.0]
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_what_is_kept_of_words_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("finray.models.static_encoder._CHARACTERS_KEPT", 8)
    encoder = StaticEncoder(table())
    for text in ("net sales", "sales rose", "net net", "rose"):
        assert (encoder.encode_query(text) == StaticEncoder(table()).encode_query(text)).all()
    assert len(encoder._pieces) <= 2


def test_unknown_words_and_empty_texts_get_the_first_unit_vector() -> None:
    encoder = StaticEncoder(table())
    assert encoder.encode_passages(["", "unheard"]).tolist() == [[1.0, 0.0, 0.0]] * 2


def test_a_lone_surrogate_is_no_error() -> None:
    assert np.isfinite(shipped_static_encoder().encode_query("sales \ud800 rose")).all()


def test_a_written_file_loads_as_an_encoder(tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    with path.open("wb") as stream:
        write_token_vectors(stream, table())
    wanted = EncoderSettings(model=str(path))
    read, expected = load_encoder(wanted), StaticEncoder(table())
    assert encoder_dimension(wanted) == 3
    cosine = float(read.encode_query("net sales rose") @ expected.encode_query("net sales rose"))
    assert cosine > 0.999


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"\x93NUMPY"])
def test_a_damaged_file_is_refused(content: bytes) -> None:
    with pytest.raises(ModelUnavailableError, match="no static encoder"):
        read_token_vectors(io.BytesIO(content), "x.npz")


def test_a_file_whose_tokens_and_vectors_differ_is_refused() -> None:
    given = table()
    with pytest.raises(ModelUnavailableError, match="4 tokens and 5 vectors"):
        read_token_vectors(saved(TokenVectors(given.tokens[:4], given.vectors)), "x.npz")


def test_a_file_that_unpacks_to_far_more_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_encoder, "_MOST_BYTES", 10_000)
    packed = saved(TokenVectors(("[UNK]", "a"), np.zeros((2, 40_000), dtype=np.float32)))
    assert len(packed.getvalue()) < 5_000
    with pytest.raises(ModelUnavailableError, match="unpacks to"):
        read_token_vectors(packed, "x.npz")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"none\.npz"):
        load_encoder(EncoderSettings(model=str(tmp_path / "none.npz")))


def test_loading_it_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from finray.core.settings import EncoderSettings;"
        "from finray.models.encoder_loading import load_encoder;"
        "load_encoder(EncoderSettings(model='static')).encode_query('sales');"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

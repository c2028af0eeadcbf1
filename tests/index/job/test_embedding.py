"""Filings embedded together: each gets its own vectors, and one that harms the encoder is set aside alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import numpy as np
import pytest

from finray.core.errors import FilingError, ModelUnavailableError
from finray.core.filing import Filing, Page, ParsedFiling
from finray.core.settings import EncoderSettings, Settings
from finray.index.job.attempts import AttemptsHere
from finray.index.job.embedding import ATTEMPTS, embed_filings
from finray.index.job.stages import StagedFiling
from finray.index.writing import bundle as bundles
from finray.models.encoder import Encoder, Vectors
from finray.models.encoder_loading import load_encoder
from finray.models.hash_encoder import HashEncoder
from finray.storage.locations import SourceFile

NOW = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
SET_ASIDE = StagedFiling(SourceFile("/corpus/scan.pdf", 1, NOW), None, None, FilingError("parse", "no_text", "empty"))


def filing(name: str, *pages: str) -> StagedFiling:
    uri = f"/corpus/{name}.pdf"
    parsed = ParsedFiling(
        Filing(name, name, uri, name, company=name, form="10-K"), tuple(map(Page, range(len(pages)), pages))
    )
    content = bundles.to_bytes(bundles.make_bundle(parsed, Settings().chunks))
    return StagedFiling(SourceFile(uri, 1, NOW), name, content, seconds={"parse": 1.0})


def long(name: str, pages: int) -> StagedFiling:
    return filing(name, *(f"{name} revenue page {page} " * 60 for page in range(pages)))


class Watched(HashEncoder):
    """Notes the texts of each call, and raises for texts with ``poison``, or for all after the first call."""

    def __init__(self, poison: str = "nothing", broken: bool = False) -> None:
        super().__init__()
        self.calls: list[int] = []
        self._poison, self._broken = poison, broken

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(len(texts))
        if any(self._poison in text for text in texts) or (self._broken and len(self.calls) > 1):
            raise RuntimeError("the device is\nlost")
        return super().encode_passages(texts)


def vectors(staged: StagedFiling) -> tuple[bytes, ...]:
    assert staged.bundle is not None
    made = bundles.from_bytes(staged.bundle)
    assert made.vector is not None
    columns = (made.pages["vector"], made.chunks["vector"])
    return made.vector.tobytes(), *(str(column.to_pylist()).encode() for column in columns)


def test_short_filings_share_calls_of_the_encoder_and_keep_their_own_vectors() -> None:
    batch = [long("annual", 4), filing("note", "a dividend"), SET_ASIDE, filing("letter", "a buyback"), long("10q", 5)]
    together, alone = Watched(), Watched()
    done = embed_filings(batch, together, AttemptsHere(), "here", tokens=1000)
    single = embed_filings(batch, alone, AttemptsHere(), "here")
    assert [one.file.uri for one in done] == [one.file.uri for one in batch]
    assert done[2] is SET_ASIDE
    assert [vectors(one) for one in done if one.bundle] == [vectors(one) for one in single if one.bundle]
    assert len(alone.calls) == 4
    assert together.calls == [alone.calls[0], sum(alone.calls[1:])]  # no call for a note of two texts
    assert [one.chunks for one in done if one.bundle] == [calls - 1 for calls in alone.calls]
    assert all(one.seconds.keys() == {"parse", "embed"} for one in done if one.bundle)


def test_what_is_left_at_the_end_of_a_batch_is_not_encoded_alone() -> None:
    encoder = Watched()
    embed_filings([long("annual", 4), filing("note", "a dividend")], encoder, AttemptsHere(), "here", tokens=500)
    assert len(encoder.calls) == 1


def test_an_error_of_the_encoder_costs_one_filing() -> None:
    batch = [filing("one", "revenue"), filing("bad", "a poison pill"), filing("two", "income")]
    encoder = Watched("poison")
    done = embed_filings(batch, encoder, AttemptsHere(), "here", tokens=10_000)
    expected = embed_filings([batch[0], batch[2]], HashEncoder(), AttemptsHere(), "here")
    assert [vectors(done[0]), vectors(done[2])] == [vectors(one) for one in expected]
    error = done[1].error
    assert done[1].bundle is None and error is not None
    assert (error.stage, error.reason) == ("embed", "encoder_error")
    assert "RuntimeError: the device is lost" in error.detail and "--retry-failed" in error.detail
    assert sum(calls == 2 for calls in encoder.calls) == 2 + ATTEMPTS - 1  # alone: the good once, the bad to the end


def test_a_filing_that_killed_its_process_before_is_tried_alone_and_then_set_aside() -> None:
    batch = [filing("one", "revenue"), filing("killer", "income")]
    attempts = AttemptsHere()
    for _ in range(ATTEMPTS):  # processes that died
        attempts.begin([batch[1].file.uri])
    encoder = Watched()
    done = embed_filings(batch, encoder, attempts, "here", tokens=10_000)
    assert done[0].bundle is not None and encoder.calls == [2]
    error = done[1].error
    assert error is not None and (error.stage, error.reason) == ("embed", "crashed")

    attempts = AttemptsHere()
    attempts.begin([batch[1].file.uri])  # a lost node, perhaps
    assert all(one.bundle for one in embed_filings(batch, encoder, attempts, "here", tokens=10_000))
    assert attempts.unfinished([one.file.uri for one in batch]) == [0, 0]


def test_an_encoder_that_no_longer_works_is_not_the_filings_fault() -> None:
    batch = [filing("one", "revenue"), filing("two", "income")]
    attempts = AttemptsHere()
    with pytest.raises(ModelUnavailableError, match="the encoder does not work: RuntimeError"):
        embed_filings(batch, Watched(broken=True), attempts, "here")
    assert sorted(attempts.unfinished([one.file.uri for one in batch])) == [0, 1]
    assert all(one.bundle for one in embed_filings(batch, Watched(), attempts, "here"))  # a new process


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    settings = EncoderSettings(model="minilm", batch_size=2, dtype="bfloat16", device="cpu")
    return load_encoder(settings, threads=1, fixed_shapes=True)


@pytest.mark.slow
def test_with_fixed_shapes_a_real_encoder_gives_the_same_bits_whatever_shares_its_batch(minilm: Encoder) -> None:
    texts = ["short", "net sales by segment " * 9, "a dividend of $0.25 per share", "cash flow " * 80, "short"]
    together = minilm.encode_passages(texts)
    alone = np.concatenate([minilm.encode_passages([text]) for text in texts])
    backwards = minilm.encode_passages(texts[::-1])[::-1]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, backwards)
    settings = EncoderSettings(model="minilm", dtype="float32", device="cpu")
    exact = load_encoder(settings, threads=1).encode_passages(texts)
    assert float((together * exact).sum(axis=1).min()) > 0.999


@pytest.mark.slow
def test_without_fixed_shapes_vectors_differ_in_their_last_bits_only() -> None:
    settings = EncoderSettings(model="minilm", dtype="bfloat16", device="cpu", backend="torch")
    encoder = load_encoder(settings, threads=1)
    texts = ["short", "net sales by segment " * 9, "a dividend of $0.25 per share", "cash flow " * 80, "short"]
    alone = np.concatenate([encoder.encode_passages([text]) for text in texts])
    assert float((encoder.encode_passages(texts) * alone).sum(axis=1).min()) > 0.9999

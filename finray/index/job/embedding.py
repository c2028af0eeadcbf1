"""The stage that embeds filings: their texts share forward passes, and a filing that harms the encoder is set aside.

A GPU is fast on thousands of texts, but a filing may have only ten. So filings are gathered until they have enough
tokens and encoded in one call; the encoder sorts the texts by length and cuts them into passes. Each filing gets its
own vectors back. Their last bits depend on the other filings, unless the encoder computes in fixed shapes
(``finray.models.transformer_encoder``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from finray.core.errors import FilingError, ModelUnavailableError
from finray.index.job.attempts import Attempts
from finray.index.job.stages import StagedFiling, own_peak_rss
from finray.index.writing import bundle as bundles
from finray.index.writing.bundle import FilingBundle
from finray.models.encoder import Encoder, Vectors

ATTEMPTS = 3
"""Tries before a filing is set aside: the first together with others, the rest alone."""
_CHARACTERS_PER_TOKEN = 4
_MAX_DETAIL = 300


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A filing to embed, and its texts: the cover summary, then the chunks."""

    staged: StagedFiling
    bundle: FilingBundle
    texts: list[str]

    @classmethod
    def of(cls, staged: StagedFiling) -> _Parsed:
        assert staged.bundle is not None, "it has been parsed"
        bundle = bundles.from_bytes(staged.bundle)
        return cls(staged, bundle, bundles.texts_to_encode(bundle))

    @property
    def uri(self) -> str:
        return self.staged.file.uri


def embed_filings(
    batch: Sequence[StagedFiling], encoder: Encoder, attempts: Attempts, who: str, *, tokens: int = 0
) -> list[StagedFiling]:
    """``batch`` with vectors, in its order; filings that were set aside before pass through.

    Filings are encoded in groups of at least ``tokens``; 0 encodes each alone. If that fails, each is tried alone, and
    set aside after ``ATTEMPTS`` tries. ``attempts`` also counts tries that the process did not survive, so a repeated
    batch finds the filing that kills it: after a death all of the batch are tried alone.

    Raises ModelUnavailableError if the encoder itself no longer works after an error, so that later filings are not
    blamed.
    """
    parsed = [_Parsed.of(staged) for staged in batch if staged.bundle is not None]
    begun = dict(zip((one.uri for one in parsed), attempts.unfinished([one.uri for one in parsed]), strict=True))
    done: dict[str, StagedFiling] = {}
    # Suspects first: if one kills this process again, no other work is lost.
    for one in [one for one in parsed if begun[one.uri]]:
        done[one.uri] = _alone(one, encoder, attempts, who, begun[one.uri], None)
    others = [one for one in parsed if not begun[one.uri]]
    done |= _all(others, encoder, attempts, who, tokens)
    return [done.get(staged.file.uri, staged) for staged in batch]


def _all(
    filings: Sequence[_Parsed], encoder: Encoder, attempts: Attempts, who: str, tokens: int
) -> dict[str, StagedFiling]:
    """``filings``, none of them a suspect, with vectors or set aside, by URI."""
    if not filings:
        return {}
    # Noted together: a note takes as long as a short filing.
    attempts.begin([one.uri for one in filings])
    done: dict[str, StagedFiling] = {}
    for group in _groups_by_tokens(filings, tokens):
        uris = [one.uri for one in group]
        encoded = _encoded(group, encoder, who)
        if not isinstance(encoded, BaseException):
            done |= zip(uris, encoded, strict=True)
            continue
        reason = encoded if len(group) == 1 else None
        try:
            check_encoder(encoder)
            done |= {one.uri: _alone(one, encoder, attempts, who, 1, reason) for one in group}
        except ModelUnavailableError:
            attempts.finish([one.uri for one in filings if one.uri not in uris])
            raise
    attempts.finish(list(done))
    return done


def check_encoder(encoder: Encoder) -> None:
    """Raise ModelUnavailableError if the encoder cannot encode a word, as after a fault of its GPU."""
    problem = _outcome(lambda: encoder.encode_passages(["filing"]))
    if isinstance(problem, BaseException):
        raise ModelUnavailableError(f"the encoder does not work: {on_one_line(problem)}") from problem


def _groups_by_tokens(filings: Sequence[_Parsed], tokens: int) -> list[list[_Parsed]]:
    """Consecutive filings in groups of at least ``tokens``, estimated from the length of their texts. The rest joins
    the last group."""
    groups: list[list[_Parsed]] = []
    size = tokens
    for one in filings:
        if size >= tokens:
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += sum(map(len, one.texts)) // _CHARACTERS_PER_TOKEN
    if len(groups) > 1 and size < tokens:
        rest = groups.pop()
        groups[-1] += rest
    return groups


def _encoded(group: Sequence[_Parsed], encoder: Encoder, who: str) -> list[StagedFiling] | BaseException:
    """``group`` with vectors from one call of the encoder, or what it raised. Each filing gets its share of the time,
    by number of texts."""
    started = time.monotonic()
    vectors = _outcome(lambda: encoder.encode_passages([text for one in group for text in one.texts]))
    if isinstance(vectors, BaseException):
        return vectors
    seconds = (time.monotonic() - started) / len(vectors)
    done, start = [], 0
    for one in group:
        started = time.monotonic()
        stop = start + len(one.texts)
        content = bundles.to_bytes(bundles.with_vectors(one.bundle, vectors[start:stop]))
        start = stop
        own = seconds * len(one.texts) + time.monotonic() - started
        done.append(
            replace(
                one.staged,
                bundle=content,
                chunks=one.bundle.chunks.num_rows,
                seconds={**one.staged.seconds, "embed": own},
                peak_rss_bytes={**one.staged.peak_rss_bytes, f"{who}:embed": own_peak_rss()},
            )
        )
    return done


def _outcome(encode: Callable[[], Vectors]) -> Vectors | BaseException:
    """The result of ``encode``, or what it raised: an error for one filing must not stop the others."""
    try:
        return encode()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic in a tokenizer's Rust code is no Exception
        return error


def _alone(
    one: _Parsed, encoder: Encoder, attempts: Attempts, who: str, begun: int, error: BaseException | None
) -> StagedFiling:
    """``one`` with vectors, or set aside after the remaining attempts. ``error`` is that of the last attempt, None if
    the process died in it or it was made with other filings."""
    while begun < ATTEMPTS:
        attempts.begin([one.uri])
        begun += 1
        encoded = _encoded([one], encoder, who)
        if not isinstance(encoded, BaseException):
            attempts.finish([one.uri])
            return encoded[0]
        error = encoded
        check_encoder(encoder)
    return replace(one.staged, bundle=None, error=_failure(error))


def _failure(error: BaseException | None) -> FilingError:
    again = "if that was not the filing's fault, run again with --retry-failed"
    if error is None:
        detail = f"the process that embedded it died in {ATTEMPTS} attempts, at last with this filing alone"
        return FilingError("embed", "crashed", f"{detail} (out of memory?); {again}")
    return FilingError("embed", "encoder_error", f"{ATTEMPTS} attempts failed: {on_one_line(error)}; {again}")


def on_one_line(error: BaseException) -> str:
    """The type and message of ``error``, for a person."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:_MAX_DETAIL]

"""The messages between parent and child: pickled, each after its length.

Pickle is safe here, as between Ray's processes: both ends run the same code, and hostile text stays text.
"""

from __future__ import annotations

import asyncio
import pickle
import struct
import traceback
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, Literal

from finray.core.errors import FinrayError
from finray.core.journal import StageReport
from finray.engines.source import EngineSource, Role, Tables

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Open:
    """Parent to child: open this version of the index; a Reply follows."""

    number: int
    tables: Tables | None


@dataclass(frozen=True, slots=True)
class Drop:
    """Parent to child: close this version of the index."""

    tables: Tables | None


@dataclass(frozen=True, slots=True)
class Ask:
    """Parent to child: call this method of the engine. Steps and a Reply follow, with Reports if ``reports``."""

    number: int
    tables: Tables | None
    method: Literal["answer", "retrieve"]
    arguments: dict[str, Any]
    reports: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """Child to parent: request ``number`` computes from now on; None if all requests wait."""

    number: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """Child to parent: a stage of a request began or ended."""

    number: int
    report: StageReport


@dataclass(frozen=True, slots=True)
class Call:
    """Child to parent: call a model that only the parent can reach; a Reply follows."""

    number: int
    role: Role
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Both ways: an Ask or Call is no longer needed. Its Reply follows all the same."""

    number: int


@dataclass(frozen=True, slots=True)
class Reply:
    """Both ways: the outcome of an Open, Ask or Call."""

    number: int
    value: Any = None
    error: BaseException | None = None


def settle(future: Future[Any], value: Any = None, error: BaseException | None = None) -> None:
    """Give ``future`` its outcome, unless it has one or its caller has given up."""
    with suppress(InvalidStateError):
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)


ToChild = EngineSource | Open | Drop | Ask | Cancel | Reply
ToParent = Step | Report | Call | Cancel | Reply


def encode(message: ToChild | ToParent) -> bytes:
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(content)) + content


def encode_reply(number: int, value: Any, error: BaseException | None) -> bytes:
    """A Reply that the other end can read, even if ``value`` or ``error`` cannot be pickled."""
    try:
        return encode(Reply(number, value, _portable(error) if error else None))
    except Exception as problem:  # noqa: BLE001 - any error of pickling
        return encode(Reply(number, error=TypeError(f"the result cannot be pickled: {problem}")))


def _portable(error: BaseException) -> BaseException:
    """``error`` in a form that can be pickled, with its traceback as a note unless it is finray's own."""
    if isinstance(error, FinrayError | asyncio.CancelledError):
        return error
    note = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - any error of pickling
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error


def read(stream: IO[bytes]) -> Any:
    """The next message. Raises EOFError if the other end is closed."""
    content = _exactly(stream, *_LENGTH.unpack(_exactly(stream, _LENGTH.size)))
    return pickle.loads(content)


async def read_next(reader: asyncio.StreamReader) -> Any:
    """The next message; None if the other end is closed."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def _exactly(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content

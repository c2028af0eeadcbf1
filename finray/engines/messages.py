"""What parent and child say to each other: pickled, each with its length before it.

Pickle, as between Ray's processes: both ends run the same code, and what is hostile, text, stays text.
"""

from __future__ import annotations

import asyncio
import pickle
import struct
from dataclasses import dataclass
from typing import IO, Any, Literal

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
    """Parent to child: nobody will ask this version any more."""

    tables: Tables | None


@dataclass(frozen=True, slots=True)
class Ask:
    """Parent to child: call this method of the engine; Steps, Reports and a Reply follow."""

    number: int
    tables: Tables | None
    method: Literal["answer", "retrieve"]
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """Child to parent: from now on what was asked as ``number`` computes, or, for None, everything waits."""

    number: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """Child to parent: of a stage of what was asked."""

    number: int
    report: StageReport


@dataclass(frozen=True, slots=True)
class Call:
    """Child to parent: call a model that the parent reaches; a Reply follows."""

    number: int
    role: Role
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Either way: what was asked, or called, is not wanted any more. The Reply comes all the same."""

    number: int


@dataclass(frozen=True, slots=True)
class Reply:
    """Either way: how an Open, Ask or Call of the other end came out."""

    number: int
    value: Any = None
    error: BaseException | None = None


ToChild = EngineSource | Open | Drop | Ask | Cancel | Reply
ToParent = Step | Report | Call | Cancel | Reply


def encode(message: ToChild | ToParent) -> bytes:
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(content)) + content


def read(stream: IO[bytes]) -> Any:
    """The next message. Raises EOFError where the other end is gone."""
    content = _exactly(stream, *_LENGTH.unpack(_exactly(stream, _LENGTH.size)))
    return pickle.loads(content)


async def read_next(reader: asyncio.StreamReader) -> Any:
    """The next message; None where the other end is gone."""
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

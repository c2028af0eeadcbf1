"""API keys: named, revocable, stored as hashes.

A key is ``frk_<id>_<secret>``. The secret is 256 random bits, so a single SHA-256 is as safe as a slow hash: the secret
cannot be guessed. The file holds id, name, hash and dates, not the key.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from finray.core.errors import SourceError, UsageError
from finray.storage.locations import exists, is_s3, normalize, read_bytes, write_bytes

_log = logging.getLogger(__name__)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_READ_TIMEOUT_S = 2.0
"""How long a request waits for the key file to be read."""
_TOKEN = re.compile(r"frk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """``sha256`` is the hex digest of the whole key; dates are ISO 8601 in UTC."""

    key_id: str
    name: str
    sha256: str
    created_at: str
    revoked_at: str | None = None


def keys_location(chosen: str) -> str:
    """``chosen`` (the setting ``serving.keys``), or ``keys.json`` in the user's configuration folder."""
    if chosen:
        return normalize(chosen)
    folder = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return normalize(str(Path(folder).expanduser() / "finray" / "keys.json"))


def read_keys(uri: str) -> tuple[ApiKey, ...]:
    """The keys at ``uri``; none if the file is missing. Raises SourceError if it cannot be read."""
    if not exists(uri):
        return ()
    try:
        records = json.loads(read_bytes(uri))["keys"]
        return tuple(ApiKey(**record) for record in records)
    except (ValueError, TypeError, KeyError) as error:
        raise SourceError(f"{uri!r} is not a file of API keys: {error}; move it away and add keys again") from error


def new_key(name: str) -> tuple[ApiKey, str]:
    """A key and its text, which is shown only once. Raises UsageError for an invalid name."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a key: use 1 to 64 letters, digits, '.', '_' or '-'")
    key_id = secrets.token_hex(6)
    text = f"frk_{key_id}_{secrets.token_urlsafe(32)}"
    return ApiKey(key_id, name, _digest(text), _now()), text


def add_key(uri: str, name: str) -> str:
    """Add a key to the file at ``uri`` and return its text. Raises UsageError if the name is taken."""
    present = read_keys(uri)
    if any(key.name == name and key.revoked_at is None for key in present):
        raise UsageError(f"there is a key {name!r} already; revoke it first, or choose another name")
    key, text = new_key(name)
    _write(uri, [*present, key])
    return text


def revoke_key(uri: str, name: str) -> None:
    """Revoke the key called ``name``. Raises UsageError if no active key has this name."""
    present = read_keys(uri)
    if not any(key.name == name and key.revoked_at is None for key in present):
        raise UsageError(f"no key {name!r} is in use; `finray keys list` shows them")
    _write(
        uri, [replace(key, revoked_at=_now()) if key.name == name and not key.revoked_at else key for key in present]
    )


class KeyRing:
    """Checks keys against the file, which it reads again every ``refresh_s``: a revoked key then stops working.

    Keys in ``extra`` are accepted too. If the file becomes unreadable or slow to read, the known keys stay in effect.
    Safe from several threads and event loops.
    """

    def __init__(
        self,
        uri: str,
        refresh_s: float,
        *,
        extra: Sequence[ApiKey] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._uri, self._refresh_s, self._clock = uri, refresh_s, clock
        self._extra = tuple(extra)
        self._keys = self._by_id(read_keys(uri))
        self._read_at = clock()
        self._lock = threading.Lock()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="keys")
        self._reading: Future[None] | None = None

    def __len__(self) -> int:
        return len(self._keys)

    async def find(self, text: str) -> ApiKey | None:
        """The active key whose text is ``text``, or None. Reads the file first if a refresh is due; concurrent calls
        share one read."""
        if _TOKEN.fullmatch(text) is None:
            return None
        with self._lock:
            if (self._reading is None or self._reading.done()) and self._clock() - self._read_at >= self._refresh_s:
                self._reading = self._reader.submit(self.read)
            reading = self._reading
        if reading is not None and not reading.done():
            await asyncio.wait({asyncio.wrap_future(reading)}, timeout=_READ_TIMEOUT_S)
        return self.check(text)

    def check(self, text: str) -> ApiKey | None:
        """The key whose text is ``text`` and that was active when the file was last read, or None."""
        match = _TOKEN.fullmatch(text)
        key = self._keys.get(match[1]) if match is not None else None
        return key if key is not None and hmac.compare_digest(key.sha256, _digest(text)) else None

    def read(self) -> None:
        """Read the file again."""
        try:
            self._keys = self._by_id(read_keys(self._uri))
        except SourceError as error:
            _log.warning("keeping the keys as they were: %s", error)
        finally:
            self._read_at = self._clock()

    def _by_id(self, keys: Sequence[ApiKey]) -> dict[str, ApiKey]:
        return {key.key_id: key for key in (*keys, *self._extra) if key.revoked_at is None}


def _write(uri: str, keys: Sequence[ApiKey]) -> None:
    write_bytes(uri, json.dumps({"keys": [asdict(key) for key in keys]}, indent=1).encode() + b"\n")
    if not is_s3(uri):
        Path(uri).chmod(0o600)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")

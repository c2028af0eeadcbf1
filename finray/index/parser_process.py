"""Parsing in a process of its own: a filing that crashes the parser, hangs it or eats all memory harms only
itself.

The child (``python -m finray.index.parser_process``) reads requests from stdin and answers on the descriptor
that was stdout. A request is a header (JSON) and the filing's bytes, an answer a header and the bundle's
bytes; nothing is unpickled, so that a parser taken over by a hostile document cannot reach further through
its answer.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from finray.core.errors import FilingError, Stage
from finray.core.settings import ChunkSettings, FilingSettings
from finray.filings.tessdata import Ocr, find_tessdata

_LENGTHS = struct.Struct("<2Q")
_READY = b"R"
_START_SECONDS = 120.0
_GIB = 1024**3
_HEADER_BYTES = 1024**2
_LAST_WORDS = ("parser_error", "out_of_memory")
"""Reasons after which the child ends by itself."""


@dataclass(frozen=True, slots=True)
class ParsedBytes:
    """A bundle's bytes (see ``finray.index.bundle``), the time it took, and the child's peak memory so far."""

    bundle: bytes
    seconds: float
    peak_rss_bytes: int


class ParserProcess:
    """Parses one filing at a time in a child process, which is started when needed and again when it has
    died. ``filings`` has the limits of time and memory for each filing.

    Not for use from several threads.
    """

    def __init__(
        self, filings: FilingSettings, chunks: ChunkSettings, *, module: str = "finray.index.parser_process"
    ) -> None:
        self._settings = {"filings": filings.model_dump(), "chunks": chunks.model_dump()}
        self._seconds = filings.parse_seconds
        self._ocr_seconds = filings.ocr_seconds
        self._tessdata = find_tessdata() if filings.ocr_seconds else None
        self._most_bytes = int(filings.parse_memory_gb * _GIB)
        self._module = module
        self.child: subprocess.Popen[bytes] | None = None

    def parse(self, content: bytes, source_uri: str) -> ParsedBytes:
        """The bundle of one filing.

        Raises FilingError: the parser's own, or ``crashed`` (twice: the first time may have been the system's doing),
        ``timeout``, ``out_of_memory``, ``parser_error``.
        """
        if self._tessdata is None:
            return self._parse_twice(content, source_uri, None)
        try:
            return self._parse_twice(content, source_uri, Ocr(self._tessdata, allowed=False))
        except FilingError as error:
            if error.reason != "needs_ocr":
                raise
            return self._parse_twice(content, source_uri, Ocr(self._tessdata))

    def _parse_twice(self, content: bytes, source_uri: str, ocr: Ocr | None) -> ParsedBytes:
        try:
            return self._parse(content, source_uri, ocr)
        except FilingError as error:
            if error.reason != "crashed":
                raise
            return self._parse(content, source_uri, ocr)

    def _parse(self, content: bytes, source_uri: str, ocr: Ocr | None) -> ParsedBytes:
        limit = self._seconds + (self._ocr_seconds if ocr and ocr.allowed else 0.0)
        started = time.monotonic()
        child = self._ready()
        request = {"source_uri": source_uri, "seconds": limit, "ocr": asdict(ocr) if ocr else None}
        header = json.dumps(request).encode()
        try:
            _send_by(child.stdin, header, content, started + limit)
            answer, bundle = _receive(child.stdout, self._most_bytes, started + limit)
        except TimeoutError:
            self.close()
            raise self._timeout("", ocr) from None
        except (EOFError, BrokenPipeError):
            raise self._crashed(child, ocr) from None
        except ValueError as error:
            self.close()
            raise FilingError("parse", "crashed", f"the parser process answered nonsense: {error}") from error
        if "reason" in answer:
            if answer["reason"] in _LAST_WORDS:
                self.close()
            raise FilingError(answer["stage"], answer["reason"], answer["detail"])
        return ParsedBytes(bundle, time.monotonic() - started, int(answer["peak_rss_bytes"]))

    def close(self) -> None:
        """End the child at once."""
        if self.child is not None:
            self.child.kill()
            self._reap(self.child)

    def _ready(self) -> subprocess.Popen[bytes]:
        if self.child is not None and self.child.poll() is not None:
            self._reap(self.child)
        if self.child is None:
            self.child = subprocess.Popen(
                [sys.executable, "-m", self._module, json.dumps(self._settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Arrow's own allocator maps a gigabyte at once, which would count against the limit.
                # Tesseract's threads wait for each other: one is as fast, and there is a parser for each processor.
                env=os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_THREAD_LIMIT": "1"},
            )
            assert self.child.stdin is not None
            os.set_blocking(self.child.stdin.fileno(), False)  # a child that is stopped reads nothing
            try:
                _read_exactly(self.child.stdout, 1, time.monotonic() + _START_SECONDS)
            except (EOFError, TimeoutError) as error:
                child = self.child
                self.close()
                raise RuntimeError(
                    f"the parser process does not start (exit status {child.returncode}): see its message above"
                ) from error
        return self.child

    def _crashed(self, child: subprocess.Popen[bytes], ocr: Ocr | None) -> FilingError:
        self._reap(child)
        status = child.returncode
        if status == -signal.SIGXCPU:
            return self._timeout(" of processor time", ocr)
        cause = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        return FilingError("parse", "crashed", f"the parser process died on this filing ({cause})")

    def _timeout(self, of: str, ocr: Ocr | None) -> FilingError:
        read = ocr is not None and ocr.allowed
        setting = "filings.ocr_seconds" if read else "filings.parse_seconds"
        seconds = self._ocr_seconds if read else self._seconds
        return FilingError(
            "parse",
            "timeout",
            f"not {'read by OCR' if read else 'parsed'} after {seconds:g} s{of} ({setting}; give it more and run again "
            "with --retry-failed)",
        )

    def _reap(self, child: subprocess.Popen[bytes]) -> None:
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue  # what was still buffered was meant for the dead child
        self.child = None


def serve(arguments: str) -> None:
    """The child's loop; ends when the parent closes the pipe or is gone."""
    from finray.filings.read import parse_filing
    from finray.index.bundle import make_bundle, to_bytes

    settings = json.loads(arguments)
    filings = FilingSettings.model_validate(settings["filings"])
    chunks = ChunkSettings.model_validate(settings["chunks"])
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    _limit_memory(filings.parse_memory_gb)
    sys.excepthook = _last_words(answers)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    answers.write(_READY)
    answers.flush()
    while True:
        try:
            header, content = _receive_blocking(requests)
        except EOFError:
            return
        _limit_processor_time(header["seconds"])
        ocr = Ocr(**header["ocr"]) if header["ocr"] else None
        try:
            bundle = to_bytes(make_bundle(parse_filing(content, header["source_uri"], filings, ocr), chunks))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            _send(answers, json.dumps({"peak_rss_bytes": peak}).encode(), bundle)
        except FilingError as error:
            _send(answers, _failure(error.stage, error.reason, error.detail), b"")
        except MemoryError:
            detail = (
                f"reading it needs more than {filings.parse_memory_gb:g} GiB (filings.parse_memory_gb; give it more "
                "and run again with --retry-failed)"
            )
            _send(answers, _failure("parse", "out_of_memory", detail), b"")
            return  # what is left of the memory is in pieces


def _last_words(answers: IO[bytes]) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """A bug of the parser ends the child, as any uncaught error does; the filing's failure then names it."""

    def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        _send(answers, _failure("parse", "parser_error", f"{kind.__name__}: {error}"[:500]), b"")

    return tell


def _failure(stage: Stage, reason: str, detail: str) -> bytes:
    return json.dumps({"stage": stage, "reason": reason, "detail": detail}).encode()


def _limit_memory(gib: float) -> None:
    """Address space, the one limit that the kernel keeps for a single process: what is mapped now, and ``gib`` more."""
    try:
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except FileNotFoundError:  # no Linux
        mapped = 0
    resource.setrlimit(resource.RLIMIT_AS, (mapped + int(gib * _GIB), resource.RLIM_INFINITY))


def _limit_processor_time(seconds: float) -> None:
    """The kernel ends the child when it spends much more on one filing, even where the parent is gone."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(usage.ru_utime + usage.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(2.0)
    os._exit(1)


def _send(stream: IO[bytes] | None, header: bytes, content: bytes) -> None:
    assert stream is not None
    stream.write(_LENGTHS.pack(len(header), len(content)))
    stream.write(header)
    stream.write(content)
    stream.flush()


def _send_by(stream: IO[bytes] | None, header: bytes, content: bytes, deadline: float) -> None:
    """Send to a pipe that does not block. Raises BrokenPipeError, and TimeoutError at ``deadline`` (monotonic)."""
    assert stream is not None
    for part in (_LENGTHS.pack(len(header), len(content)), header, content):
        left = memoryview(part)
        while left:
            _, writable, _ = select.select([], [stream], [], max(0.0, deadline - time.monotonic()))
            if not writable:
                raise TimeoutError
            left = left[os.write(stream.fileno(), left[: select.PIPE_BUF]) :]


def _receive(stream: IO[bytes] | None, most: int, deadline: float) -> tuple[dict[str, Any], bytes]:
    """An answer of at most ``most`` bytes: what the child says of its length proves nothing. Raises ValueError."""
    lengths = _LENGTHS.unpack(_read_exactly(stream, _LENGTHS.size, deadline))
    if lengths[0] > _HEADER_BYTES or lengths[1] > most:
        raise ValueError(f"{lengths[0]:,} and {lengths[1]:,} bytes")
    header, content = (_read_exactly(stream, length, deadline) for length in lengths)
    answer = json.loads(header)
    if not isinstance(answer, dict):
        raise ValueError("no object")
    return answer, content


def _receive_blocking(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    prefix = stream.read(_LENGTHS.size)
    if len(prefix) < _LENGTHS.size:
        raise EOFError
    header_length, content_length = _LENGTHS.unpack(prefix)
    return json.loads(stream.read(header_length)), stream.read(content_length)


def _read_exactly(stream: IO[bytes] | None, length: int, deadline: float) -> bytes:
    """``length`` bytes from a pipe. Raises EOFError when it closes, TimeoutError at ``deadline`` (monotonic)."""
    assert stream is not None
    parts: list[bytes] = []
    while length:
        readable, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            raise TimeoutError
        part = os.read(stream.fileno(), min(length, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


if __name__ == "__main__":
    serve(sys.argv[1])

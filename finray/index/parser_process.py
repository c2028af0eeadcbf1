"""Parsing in a process of its own: a filing that crashes the parser, hangs it or eats all memory harms only
itself, and one that takes it over finds no key, no network and no file to write (``finray.sandbox.reader``).

The child reads requests from stdin and answers on the descriptor that was stdout. A request is a header (JSON) and the
filing's bytes, an answer a header and the bundle's bytes; nothing is unpickled, so that a parser taken over by a
hostile document cannot reach further through its answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import IO, Any, cast, get_args

from finray.core.errors import FilingError, Stage
from finray.core.settings import ChunkSettings, FilingSettings, SandboxSettings
from finray.filings.tessdata import Ocr, find_tessdata
from finray.sandbox import confined, pipes, reader
from finray.sandbox.lockdown import NO_FILTER

_LENGTHS = struct.Struct("<2Q")
_READY = b"R"
_START_SECONDS = 120.0
_END_SECONDS = 5.0
_GIB = 1024**3
_HEADER_BYTES = 1024**2
_REASON_CHARACTERS = 40
_DETAIL_CHARACTERS = 2_000
_LIFE = 20
"""Times ``parse_seconds`` of processor time, after which a child is replaced: its hard limit, which nothing raises."""
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
    died. ``filings`` has the limits of time and memory for each filing; where ``sandbox.isolation`` demands a filter
    of system calls, the child does not start without.

    Not for use from several threads.
    """

    def __init__(
        self,
        filings: FilingSettings,
        chunks: ChunkSettings,
        sandbox: SandboxSettings | None = None,
        *,
        module: str = "finray.index.parser_process",
    ) -> None:
        self._settings = {
            "filings": filings.model_dump(),
            "chunks": chunks.model_dump(),
            "demanded": sandbox is not None and confined.filter_demanded(sandbox),
        }
        self._seconds = filings.parse_seconds
        self._ocr_seconds = filings.ocr_seconds
        self._tessdata = find_tessdata() if filings.ocr_seconds else None
        self._most_bytes = int(filings.parse_memory_gb * _GIB)
        self._module = module
        self._relay: confined.Relay | None = None
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
            parts = (_LENGTHS.pack(len(header), len(content)), header, content)
            pipes.send(child.stdin, parts, started + limit)
            answer, bundle = _receive(child.stdout, self._most_bytes, started + limit)
        except TimeoutError:
            self.close()
            raise self._timeout("", ocr) from None
        except (EOFError, BrokenPipeError):
            raise self._crashed(child, ocr) from None
        except ValueError as error:
            self.close()
            raise FilingError("parse", "crashed", f"the parser process answered nonsense: {error}") from error
        if isinstance(answer, FilingError):
            if answer.reason in _LAST_WORDS:
                self.close()
            raise answer
        return ParsedBytes(bundle, time.monotonic() - started, answer)

    def close(self) -> None:
        """End the child at once."""
        if self.child is not None:
            self.child.kill()
            self._reap(self.child)

    def _ready(self) -> subprocess.Popen[bytes]:
        if self.child is not None and self.child.poll() is not None:
            self._reap(self.child)
        if self.child is None:
            self.child = confined.start(confined.command(self._module, json.dumps(self._settings)), relayed=True)
            self._relay = confined.Relay(self.child)
            try:
                pipes.receive_exactly(self.child.stdout, 1, time.monotonic() + _START_SECONDS)
            except (EOFError, TimeoutError) as error:
                child, relay = self.child, self._relay
                if isinstance(error, TimeoutError):
                    child.kill()
                self._reap(child)
                if child.returncode == NO_FILTER:
                    raise confined.no_filter() from error
                raise RuntimeError(
                    f"the parser process does not start (exit status {child.returncode}): {relay.last or 'no message'}"
                ) from error
        return self.child

    def _crashed(self, child: subprocess.Popen[bytes], ocr: Ocr | None) -> FilingError:
        self._reap(child)
        status = child.returncode
        if status == -signal.SIGPROF:
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
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may have closed its pipe and go on
            child.wait(_END_SECONDS)
        confined.end(child)
        if self._relay is not None:
            self._relay.join(1.0)
        self.child = None


def main(arguments: Sequence[str]) -> None:
    """The child's loop; ends when the parent closes the pipe or is gone."""
    reader.leave_out_layout()
    from finray.filings.read import parse_filing
    from finray.index.bundle import make_bundle, to_bytes

    settings = json.loads(arguments[0])
    filings = FilingSettings.model_validate(settings["filings"])
    chunks = ChunkSettings.model_validate(settings["chunks"])
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    reader.confine(
        seconds=_LIFE * filings.parse_seconds + filings.ocr_seconds,
        memory_bytes=int(filings.parse_memory_gb * _GIB),
        demanded=settings["demanded"],
    )
    sys.excepthook = _last_words(answers)
    answers.write(_READY)
    answers.flush()
    end = _processor_seconds() + (_LIFE - 1) * filings.parse_seconds
    while _processor_seconds() < end:
        try:
            header, content = _receive_blocking(requests)
        except EOFError:
            return
        # The kernel ends the child if it spends much more on one filing, even if the parent is gone.
        signal.setitimer(signal.ITIMER_PROF, header["seconds"] + 2.0)
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


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _send(stream: IO[bytes] | None, header: bytes, content: bytes) -> None:
    assert stream is not None
    stream.write(_LENGTHS.pack(len(header), len(content)))
    stream.write(header)
    stream.write(content)
    stream.flush()


def _receive(stream: IO[bytes] | None, most: int, deadline: float) -> tuple[int | FilingError, bytes]:
    """An answer, which may come from whatever has taken the child over: its peak memory or its failure, and at most
    ``most`` bytes. Raises ValueError, EOFError, TimeoutError."""
    lengths = _LENGTHS.unpack(pipes.receive_exactly(stream, _LENGTHS.size, deadline))
    if lengths[0] > _HEADER_BYTES or lengths[1] > most:
        raise ValueError(f"{lengths[0]:,} and {lengths[1]:,} bytes")
    header, content = (pipes.receive_exactly(stream, length, deadline) for length in lengths)
    try:
        answer = json.loads(header)
    except RecursionError:
        raise ValueError("a header nested too deep") from None
    match answer:
        case {"peak_rss_bytes": int(peak)}:
            return peak, content
        case {"stage": stage, "reason": str(reason), "detail": str(detail)}:
            if stage in get_args(Stage) and reason.isidentifier():
                return FilingError(cast(Stage, stage), reason[:_REASON_CHARACTERS], detail[:_DETAIL_CHARACTERS]), b""
    raise ValueError("neither a bundle nor a failure")


def _receive_blocking(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    prefix = stream.read(_LENGTHS.size)
    if len(prefix) < _LENGTHS.size:
        raise EOFError
    header_length, content_length = _LENGTHS.unpack(prefix)
    return json.loads(stream.read(header_length)), stream.read(content_length)

"""Parses filings in a child process. One that crashes the parser, hangs it or exhausts memory fails alone; one that
takes it over finds no key, no network and no writable file (``finray.sandbox.reader``).

The child reads requests from stdin and answers on the original stdout. A request is a JSON header and the filing's
bytes, an answer a JSON header and the bundle's bytes. Nothing is unpickled, so a compromised parser cannot reach its
parent through an answer.
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
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import IO, Any, cast, get_args

from finray.core.errors import FilingError, Stage
from finray.core.garbage import collect_seldom
from finray.core.settings import ChunkSettings, CollectionSettings, FilingSettings, SandboxSettings
from finray.filings.pdf.tessdata import Ocr, find_tessdata
from finray.sandbox import confined, pipes, reader
from finray.sandbox.lockdown import NO_FILTER

_LENGTHS = struct.Struct("<2Q")
_READY = b"R"
_START_SECONDS = 120.0
_STARTS = 3
"""Attempts to start a child if each one is killed before it has read anything."""
_END_SECONDS = 5.0
_GIB = 1024**3
_HEADER_BYTES = 1024**2
_REASON_CHARACTERS = 40
_DETAIL_CHARACTERS = 2_000
_LIFE = 20
"""Processor time after which a child is replaced, in multiples of ``parse_seconds``. It is also the hard limit."""
_FINAL_REASONS = ("parser_error", "out_of_memory")
"""Failures after which the child exits."""


@dataclass(frozen=True, slots=True)
class ParsedBytes:
    """A bundle as bytes (``finray.index.writing.bundle``), the parsing time, and the child's peak memory so far."""

    bundle: bytes
    seconds: float
    peak_rss_bytes: int


class ParserProcess:
    """Parses one filing at a time in a child process, started on demand and restarted after it dies.

    ``filings`` limits time and memory for each filing. If ``sandbox.isolation`` requires a system call filter, the
    child does not start without one. Threads wait for each other.
    """

    def __init__(
        self,
        filings: FilingSettings,
        chunks: ChunkSettings,
        sandbox: SandboxSettings | None = None,
        *,
        collection: CollectionSettings | None = None,
        module: str = "finray.index.job.parser_process",
    ) -> None:
        self._settings = {
            "filings": filings.model_dump(),
            "chunks": chunks.model_dump(),
            "collection": (collection or CollectionSettings()).model_dump(),
            "demanded": sandbox is not None and confined.filter_demanded(sandbox),
        }
        self._seconds = filings.parse_seconds
        self._ocr_seconds = filings.ocr_seconds
        self._tessdata = find_tessdata() if filings.ocr_seconds else None
        self._most_bytes = int(filings.parse_memory_gb * _GIB)
        self._module = module
        self._one_at_a_time = threading.Lock()
        self._relay: confined.Relay | None = None
        self.child: subprocess.Popen[bytes] | None = None

    def parse(self, content: bytes, source_uri: str) -> ParsedBytes:
        """The bundle of one filing.

        Raises FilingError: the parser's own, or ``crashed`` (after a second try), ``timeout``, ``out_of_memory``,
        ``parser_error``.
        """
        ocr = Ocr(self._tessdata, allowed=False) if self._tessdata else None
        crashed = False
        while True:
            try:
                with self._one_at_a_time:
                    return self._parse(content, source_uri, ocr)
            except FilingError as error:
                if error.reason == "crashed" and not crashed:
                    crashed = True
                elif error.reason == "needs_ocr" and ocr is not None and not ocr.allowed:
                    ocr, crashed = Ocr(ocr.tessdata), False
                else:
                    raise

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
            raise FilingError("parse", "crashed", f"the parser process sent an invalid answer: {error}") from error
        if isinstance(answer, FilingError):
            if answer.reason in _FINAL_REASONS:
                self.close()
            raise answer
        return ParsedBytes(bundle, time.monotonic() - started, answer)

    def close(self) -> None:
        """Kill the child, if there is one."""
        if self.child is not None:
            self.child.kill()
            self._reap(self.child)

    def _ready(self) -> subprocess.Popen[bytes]:
        if self.child is not None and self.child.poll() is not None:
            self._reap(self.child)
        starts = 0
        while self.child is None:
            starts += 1
            command = confined.command(self._module, json.dumps(self._settings))
            self.child = child = confined.start(command, relayed=True)
            self._relay = relay = confined.Relay(child)
            try:
                pipes.receive_exactly(child.stdout, 1, time.monotonic() + _START_SECONDS)
            except (EOFError, TimeoutError) as error:
                if isinstance(error, TimeoutError):
                    child.kill()
                self._reap(child)
                if child.returncode == NO_FILTER:
                    raise confined.no_filter() from error
                if isinstance(error, EOFError) and child.returncode == -signal.SIGKILL and starts < _STARTS:
                    continue  # the system ends processes that are short of memory, whatever they do
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
        if ocr is not None and ocr.allowed:
            spent = f"not read by OCR after {self._ocr_seconds:g} s{of} (filings.ocr_seconds"
        else:
            spent = f"not parsed after {self._seconds:g} s{of} (filings.parse_seconds"
        return FilingError("parse", "timeout", f"{spent}; raise it and run again with --retry-failed)")

    def _reap(self, child: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may have closed its pipe and still run
            child.wait(_END_SECONDS)
        confined.end(child)
        if self._relay is not None:
            self._relay.join(1.0)
        self.child = None


def main(arguments: Sequence[str]) -> None:
    """The child's loop; ends when the parent closes the pipe or dies."""
    collect_seldom()
    reader.leave_out_layout()
    reader.leave_out_pandas()
    from finray.filings.documents import parse_document
    from finray.filings.read import parse_filing
    from finray.index.writing.bundle import make_bundle, to_bytes

    settings = json.loads(arguments[0])
    profile = CollectionSettings.model_validate(settings["collection"]).profile
    parse = parse_document if profile == "documents" else parse_filing
    filings = FilingSettings.model_validate(settings["filings"])
    chunks = ChunkSettings.model_validate(settings["chunks"])
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps output of libraries out of the answers
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    reader.confine(
        seconds=_LIFE * filings.parse_seconds + filings.ocr_seconds,
        memory_bytes=int(filings.parse_memory_gb * _GIB),
        demanded=settings["demanded"],
    )

    def fail(stage: Stage, reason: str, detail: str) -> None:
        _send(answers, {"stage": stage, "reason": reason, "detail": detail})

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        fail("parse", "parser_error", f"{kind.__name__}: {error}"[:500])

    sys.excepthook = report  # a bug of the parser, which ends the child, is the filing's failure
    answers.write(_READY)
    answers.flush()
    end = time.process_time() + (_LIFE - 1) * filings.parse_seconds
    while time.process_time() < end:
        try:
            header, content = _receive_blocking(requests)
        except EOFError:
            return
        # The kernel kills the child if one filing takes much more, even without a parent.
        signal.setitimer(signal.ITIMER_PROF, header["seconds"] + 2.0)
        ocr = Ocr(**header["ocr"]) if header["ocr"] else None
        try:
            bundle = to_bytes(make_bundle(parse(content, header["source_uri"], filings, ocr), chunks))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            _send(answers, {"peak_rss_bytes": peak}, bundle)
        except FilingError as error:
            fail(error.stage, error.reason, error.detail)
        except MemoryError:
            detail = (
                f"reading it needs more than {filings.parse_memory_gb:g} GiB (filings.parse_memory_gb; raise it and "
                "run again with --retry-failed)"
            )
            fail("parse", "out_of_memory", detail)
            return  # memory is too fragmented to go on


def _send(stream: IO[bytes], answer: Mapping[str, object], content: bytes = b"") -> None:
    header = json.dumps(answer).encode()
    stream.writelines((_LENGTHS.pack(len(header), len(content)), header, content))
    stream.flush()


def _receive(stream: IO[bytes] | None, most: int, deadline: float) -> tuple[int | FilingError, bytes]:
    """An answer of the child, which may be compromised: its peak memory or failure, and at most ``most`` bytes.

    Raises ValueError, EOFError, TimeoutError.
    """
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

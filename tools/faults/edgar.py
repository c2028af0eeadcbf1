"""A local web server that imitates EDGAR: files of a folder, SEC's rate limits and pages, and faults on demand."""

from __future__ import annotations

import email.utils
import gzip
import hashlib
import re
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RATE_PAGE = b"""<!DOCTYPE html><html><head><title>SEC.gov | Request Rate Threshold Exceeded</title></head><body>
<h1>Your Request Originates from an Undeclared Automated Tool</h1><p>To allow for equitable access to all users, SEC
reserves the right to limit requests. Reference ID: 0.00000000.1700000000.0</p></body></html>"""
NO_SUCH_FILE = b"""<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"""


@dataclass(frozen=True)
class Fault:
    """A fault of one request: an error status with a page, a truncated body, or a pause before each piece of it."""

    status: int = 0
    body: bytes = b""
    cut_after: int | None = None
    cut_silently: bool = False
    """Send the shorter length as Content-Length, as a broken proxy does."""
    piece_seconds: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()


BLOCKED = Fault(403, RATE_PAGE, headers=(("Content-Type", "text/html"),))
BUSY = Fault(503, b"<html>Service Unavailable</html>")


@dataclass
class Request:
    path: str
    at: float
    agent: str
    ranges: str
    status: int = 0


@dataclass
class LocalEdgar:
    """Each request consumes the next of ``faults`` for its path. ``per_second`` is the rate limit, None for none."""

    folder: Path
    per_second: float | None = None
    refused_seconds: float = 0.2
    compress: bool = True
    requests: list[Request] = field(default_factory=list)
    faults: defaultdict[str, deque[Fault]] = field(default_factory=lambda: defaultdict(deque))
    _refused_until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> str:
        """Serve on a free port of this machine; returns the address."""
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fail(self, path: str, *faults: Fault) -> None:
        self.faults["/Archives/" + path.removeprefix("/Archives/")].extend(faults)

    def asked(self, part: str) -> list[Request]:
        return [request for request in self.requests if part in request.path]

    def admit(self, request: Request) -> Fault | None:
        with self._lock:
            self.requests.append(request)
            if "@" not in request.agent or request.at < self._refused_until:
                return BLOCKED
            recent = [r for r in self.requests if request.at - 1.0 < r.at <= request.at]
            if self.per_second is not None and len(recent) > self.per_second:
                self._refused_until = request.at + self.refused_seconds
                return BLOCKED
            queue = self.faults[request.path]
            return queue.popleft() if queue else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore killed clients that close the connection."""


def _handler(edgar: LocalEdgar) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            request = Request(
                self.path, time.monotonic(), self.headers.get("User-Agent", ""), self.headers.get("Range", "")
            )
            fault = edgar.admit(request)
            if fault is not None and fault.status:
                self._send(request, fault.status, fault.body, dict(fault.headers))
                return
            # EDGAR also serves each submission from the folder of its documents.
            plain = re.sub(r"/(\d+)/\d{18}/([\d-]{20}\.txt)$", r"/\1/\2", self.path)
            path = (edgar.folder / plain.lstrip("/")).resolve()
            if edgar.folder.resolve() not in path.parents or not path.is_file():
                self._send(request, 403 if "index" in self.path else 404, NO_SUCH_FILE, {})
                return
            self._file(request, path, fault or Fault())

        def _file(self, request: Request, path: Path, fault: Fault) -> None:
            content = path.read_bytes()
            headers = {"Last-Modified": email.utils.formatdate(path.stat().st_mtime, usegmt=True)}
            if (
                edgar.compress
                and path.suffix in (".txt", ".idx", ".json")
                and "gzip" in self.headers["Accept-Encoding"]
            ):
                content = gzip.compress(content, mtime=0)
                headers["Content-Encoding"] = "gzip"
            headers["ETag"] = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            if self.headers.get("If-None-Match") == headers["ETag"]:
                self._send(request, 304, b"", headers)
                return
            status = 200
            if request.ranges and self.headers.get("If-Range") in (None, headers["ETag"], headers["Last-Modified"]):
                start = int(request.ranges.removeprefix("bytes=").rstrip("-"))
                if start >= len(content):
                    self._send(request, 416, b"", {"Content-Range": f"bytes */{len(content)}"})
                    return
                headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
                content, status = content[start:], 206
            self._send(request, status, content, headers, fault)

        def _send(self, request: Request, status: int, body: bytes, headers: dict[str, str], fault: Any = None) -> None:
            request.status = status
            fault = fault or Fault()
            sent = body if fault.cut_after is None else body[: fault.cut_after]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(sent if fault.cut_silently else body)))
            self.end_headers()
            try:
                for start in range(0, len(sent), 4096 if fault.piece_seconds else max(1, len(sent))):
                    self.wfile.write(sent[start : start + (4096 if fault.piece_seconds else len(sent))])
                    self.wfile.flush()
                    time.sleep(fault.piece_seconds)
            except ConnectionError:
                self.close_connection = True
            if len(sent) < len(body):
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            return

    return Handler

"""A proxy of an S3 server that injects faults, scripted or random.

    with FaultyS3("http://127.0.0.1:5000", [S3Fault("slow_down", rate=0.1)], seed=1) as s3:
        os.environ["AWS_ENDPOINT_URL"] = s3.url

It speaks HTTP without TLS and does not check signatures. They are made for the proxy's address, so an S3 server that
verifies them would refuse them.
"""

from __future__ import annotations

import email.utils
import http.client
import random
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Literal
from urllib.parse import quote, unquote, urlsplit

from tools.faults.s3_listing import LateListing, ObjectFacts

Action = Literal["error", "slow_down", "reset_before", "reset_after", "cut", "slow", "hang"]
"""The fault of a request:

``error`` and ``slow_down``: reply with S3's 500 InternalError or 503 SlowDown without executing the request.
``reset_before``: reset the connection without executing the request.
``reset_after``: execute the request, then reset the connection, so that the reply is lost.
``cut``: execute the request, then close the connection in the middle of the reply's body.
``slow``: execute the request after ``seconds``. ``hang``: do not execute it and do not reply.
"""
_ERRORS: Final[dict[str, tuple[int, str, str]]] = {
    "error": (500, "InternalError", "We encountered an internal error. Please try again."),
    "slow_down": (503, "SlowDown", "Please reduce your request rate."),
}
_HOP_BY_HOP: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade"})


@dataclass(frozen=True, slots=True)
class S3Fault:
    """Hits requests with one of ``methods`` (empty: any) whose ``bucket/key?query`` matches the pattern ``key``.

    ``rate`` is the probability for each such request, ``times`` the most hits, ``skip`` the number of requests to pass
    first.
    """

    action: Action
    rate: float = 1.0
    methods: frozenset[str] = frozenset()
    key: str = ""
    times: int | None = None
    skip: int = 0
    seconds: float = 1.0

    def concerns(self, method: str, target: str) -> bool:
        return (not self.methods or method in self.methods) and re.search(self.key, target) is not None


EVERYTHING: Final[tuple[Action, ...]] = ("error", "slow_down", "reset_before", "reset_after", "cut")
"""Faults that a client must survive without help."""


def bad_day(rate: float) -> list[S3Fault]:
    """Faults that hit the share ``rate`` of all requests, divided equally among the actions of ``EVERYTHING``."""
    faults, left = [], 1.0
    for action in EVERYTHING:
        share = rate / len(EVERYTHING)
        faults.append(S3Fault(action, rate=share / left))  # share of the requests that earlier faults leave
        left -= share
    return faults


class FaultyS3:
    """Listens on a free local port until the block ends. ``fail`` changes the faults at any time.

    ``counts`` has the number of requests hit by each action, and of all requests in ``counts["requests"]``; ``log`` has
    one entry (action or "ok", method, target) for each.
    """

    def __init__(
        self, upstream: str, faults: Iterable[S3Fault] = (), *, seed: int = 0, lists_late_s: float = 0.0
    ) -> None:
        parts = urlsplit(upstream)
        self.upstream: tuple[str, int] = (parts.hostname or "127.0.0.1", parts.port or 80)
        self.listing = LateListing(lists_late_s)
        self.counts: Counter[str] = Counter()
        self.log: list[tuple[str, str, str]] = []
        self.stopped = threading.Event()
        self._faults: list[S3Fault] = list(faults)
        self._done: list[int] = [0] * len(self._faults)
        self._seen: list[int] = [0] * len(self._faults)
        self._chance = random.Random(seed)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def failures(self) -> int:
        """The number of requests that did not get S3's reply."""
        return sum(self.counts[action] for action in (*EVERYTHING, "hang"))

    def start(self) -> FaultyS3:
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        """Refuse connections from now on."""
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> FaultyS3:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def fail(self, *faults: S3Fault) -> None:
        """Replace the faults; without arguments, S3 works again."""
        with self._lock:
            self._faults, self._done, self._seen = list(faults), [0] * len(faults), [0] * len(faults)

    def choose(self, method: str, target: str) -> S3Fault | None:
        """The fault of one request: the first that matches it and is drawn."""
        with self._lock:
            chosen = self._chosen(method, target)
            action = chosen.action if chosen else "ok"
            self.counts["requests"] += 1
            self.counts[action] += 1
            self.log.append((action, method, target))
            return chosen

    def _chosen(self, method: str, target: str) -> S3Fault | None:
        for number, fault in enumerate(self._faults):
            if not fault.concerns(method, target):
                continue
            self._seen[number] += 1
            exhausted = fault.times is not None and self._done[number] >= fault.times
            if exhausted or self._seen[number] <= fault.skip or self._chance.random() >= fault.rate:
                continue
            self._done[number] += 1
            return fault
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def shutdown_request(self, request: Any) -> None:
        """Close without shutdown(), which would send FIN and prevent a reset."""
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that close the connection."""


def _handler(s3: FaultyS3) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def handle_expect_100(self) -> bool:
            going_on = super().handle_expect_100()
            self.wfile.flush()  # the client waits for it
            return going_on

        def handle_one(self) -> None:
            body = self._body()
            target = unquote(self.path.lstrip("/"))
            fault = s3.choose(self.command, target)
            action = fault.action if fault else "ok"
            if action in _ERRORS:
                self._error(*_ERRORS[action])
                return
            if fault and action in ("slow", "hang"):
                s3.stopped.wait(fault.seconds if action == "slow" else None)
            if action in ("reset_before", "hang"):
                self._reset()
                return
            status, headers, content = self._ask(body)
            if action == "reset_after":
                self._reset()
            else:
                self._reply(status, headers, content, cut=action == "cut")

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_one

        def _body(self) -> bytes:
            if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            pieces = []
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return b"".join(pieces)

        def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            """The reply of S3, with delayed listings."""
            path, _, query = self.path.partition("?")
            changes = self._changes(path, query, body) if s3.listing.seconds > 0 else {}
            with _connected(s3.upstream) as upstream:
                kept = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
                headers = kept | ({"Content-Length": str(len(body))} if body or self.command in ("PUT", "POST") else {})
                upstream.request(self.command, self.path, body or None, headers)
                response = upstream.getresponse()
                content = response.read()
            if response.status < 300:
                deletes = self.command == "DELETE" or query.startswith("delete")
                for key, before in changes.items():
                    if deletes:
                        s3.listing.deleted(key, before)
                    else:
                        s3.listing.wrote(key, before=before)
                if s3.listing.seconds > 0 and self.command == "GET" and "list-type=2" in query:
                    content = s3.listing.rewritten(unquote(path).strip("/"), content)
            return response.status, response.getheaders(), content

        def _changes(self, path: str, query: str, body: bytes) -> dict[str, ObjectFacts | None]:
            """The objects that a request writes or deletes, with their previous state."""
            key = unquote(path).strip("/")
            part = "uploadId" in query
            signed = {name: self.headers[name] for name in ("Authorization", "x-amz-date") if name in self.headers}
            if self.command == "POST" and query.startswith("delete"):
                names = [f"{key}/{name.decode()}" for name in re.findall(rb"<Key>(.*?)</Key>", body)]
                return {name: _facts(s3.upstream, f"/{quote(name)}", signed) for name in names}
            if (self.command in ("PUT", "DELETE") and not part) or (self.command == "POST" and part):
                return {key: _facts(s3.upstream, path, signed)}
            return {}

        def _reply(self, status: int, headers: list[tuple[str, str]], content: bytes, *, cut: bool) -> None:
            self.send_response_only(status)
            given = None
            for name, value in headers:
                if name.lower() == "content-length":
                    given = value
                elif name.lower() not in _HOP_BY_HOP:
                    self.send_header(name, value)
            # The Content-Length of a HEAD reply is that of GET's body.
            length = given if self.command == "HEAD" and given is not None else str(len(content))
            if status not in (204, 304):
                self.send_header("Content-Length", length)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content[: len(content) // 2] if cut else content)
            self.wfile.flush()
            if cut:
                self.close_connection = True

        def _error(self, status: int, code: str, message: str) -> None:
            xml = (
                f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message>'
                f"<RequestId>4442587FB7D0A2F9</RequestId><HostId>faulty</HostId></Error>"
            )
            self._reply(status, [("Content-Type", "application/xml")], xml.encode(), cut=False)

        def _reset(self) -> None:
            """Send RST instead of FIN: SO_LINGER with time 0."""
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing; the proxy's ``log`` has all requests."""

    return Handler


@contextmanager
def _connected(address: tuple[str, int]) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(*address, timeout=60)
    try:
        yield connection
    finally:
        connection.close()


def _facts(upstream: tuple[str, int], path: str, headers: dict[str, str]) -> ObjectFacts | None:
    """The current state of an object in S3, None if there is none."""
    with _connected(upstream) as connection:
        connection.request("HEAD", path, headers=headers)
        response = connection.getresponse()
        response.read()
        if response.status != 200:
            return None
        modified = time.strftime(
            "%Y-%m-%dT%H:%M:%S.000Z", email.utils.parsedate(response.getheader("Last-Modified")) or time.gmtime()
        )
        return ObjectFacts(response.getheader("Content-Length") or "0", response.getheader("ETag") or "", modified)

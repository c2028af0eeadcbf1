"""An S3 server that records the IAM actions and resources that its callers need."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from tests.infra.iam import Request

Environ = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """``resource`` is an ARN; ``prefix`` that of a listing."""

    action: str
    resource: str
    prefix: str | None = None

    @property
    def request(self) -> Request:
        return Request(self.action, self.resource, {} if self.prefix is None else {"s3:prefix": self.prefix})


@dataclass
class Recorder:
    """WSGI middleware. ``calls`` are those since it was last cleared; ``unknown`` lists requests without a known
    action."""

    app: Callable[..., Iterable[bytes]]
    calls: set[Call] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        self._note(environ)
        return self.app(environ, start_response)

    def _note(self, environ: Environ) -> None:
        method, query = environ["REQUEST_METHOD"], parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        bucket, _, key = unquote(environ["PATH_INFO"]).lstrip("/").partition("/")
        arn = f"arn:aws:s3:::{bucket}"
        if not key:
            if method in ("GET", "HEAD"):
                self.calls.add(Call("s3:ListBucket", arn, query.get("prefix", [""])[0] if method == "GET" else None))
            elif method == "POST" and "delete" in query:
                body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
                environ["wsgi.input"] = _Again(body)
                for name in re.findall(rb"<Key>([^<]*)</Key>", body):
                    self.calls.add(Call("s3:DeleteObject", f"{arn}/{name.decode()}"))
            else:
                self.unknown.add(f"{method} {environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}")
            return
        actions = {"GET": "GetObject", "HEAD": "GetObject", "PUT": "PutObject", "POST": "PutObject"}
        action = actions.get(method)
        if method == "DELETE":
            action = "AbortMultipartUpload" if "uploadId" in query else "DeleteObject"
        if action is None or query.keys() & {"acl", "tagging", "retention", "versions", "versionId"}:
            self.unknown.add(f"{method} {environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}")
            return
        self.calls.add(Call(f"s3:{action}", f"{arn}/{key}"))
        if source := environ.get("HTTP_X_AMZ_COPY_SOURCE"):
            self.calls.add(Call("s3:GetObject", f"arn:aws:s3:::{unquote(source).lstrip('/')}"))


class _Again:
    """A request body that was already read."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def read(self, size: int = -1) -> bytes:
        some, self._body = (self._body, b"") if size < 0 else (self._body[:size], self._body[size:])
        return some


@contextmanager
def recording_s3() -> Iterator[Recorder]:
    """Runs the server inside the block, with ``AWS_*`` variables of this process set to it."""
    recorder = Recorder(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, recorder, threaded=True, request_handler=MotoRequestHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield recorder
    server.shutdown()
    thread.join()

"""A model hub on this machine, over HTTP: what huggingface_hub asks for, with a log of it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "c" * 40


@dataclass
class LocalHub:
    """``models`` are folders by name, each at one commit, which is its ``main``. ``downloaded`` are the files sent."""

    models: dict[str, Path]
    url: str = ""
    downloaded: list[str] = field(default_factory=list)

    def answer(self, path: str) -> tuple[dict[str, str], bytes] | None:
        owner, name, *rest = path.removeprefix("/api/models").strip("/").split("/")
        folder = self.models.get(f"{owner}/{name}")
        if folder is None:
            return None
        if path.startswith("/api/"):
            files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
            names = [str(path.relative_to(folder)) for path in files]
            told: object = {"id": f"{owner}/{name}", "sha": COMMIT, "siblings": [{"rfilename": name} for name in names]}
            if rest[0] == "tree":
                told = [
                    {"type": "file", "path": name, "size": path.stat().st_size, "oid": _digest(path.read_bytes())}
                    for name, path in zip(names, files, strict=True)
                ]
            return {"Content-Type": "application/json"}, json.dumps(told).encode()
        file = folder / "/".join(rest[2:])
        if not file.is_file():
            return None
        content = file.read_bytes()
        return {"ETag": f'"{_digest(content)}"', "X-Repo-Commit": COMMIT}, content


def _digest(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


@contextmanager
def local_hub(models: dict[str, Path]) -> Iterator[LocalHub]:
    hub = LocalHub(models)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._reply(with_content=True)

        def do_HEAD(self) -> None:
            self._reply(with_content=False)

        def _reply(self, *, with_content: bool) -> None:
            path = self.path.partition("?")[0]
            headers, content = hub.answer(path) or ({"X-Error-Code": "RepoNotFound"}, b"")
            self.send_response(200 if content else 404)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if with_content:
                self.wfile.write(content)
                if "/resolve/" in path:
                    hub.downloaded.append(path.rpartition("/")[2])

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hub.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield hub
        server.shutdown()
        thread.join()

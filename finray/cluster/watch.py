"""Notice that the Ray cluster is gone for good, or has no room left, and say so.

Where its node or its head does not come back, Ray ends a process by itself: at once or after a minute, without a word
that tells what to do, and with exit code 1. No exception can be caught then, so this comes before it.
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import ray

_LOOK_SECONDS = 0.5
_CONNECT_SECONDS = 5.0
_OWN_HEAD_SECONDS = 3.0
_HEAD_SECONDS_NAME = "RAY_gcs_rpc_server_reconnect_timeout_s"
_HEAD_SECONDS = 60.0
"""How long Ray waits for a head that restarts, unless the variable says otherwise."""
_PART = 0.75
"""Of that time, after which the head is called gone: just before Ray does."""
_LEAST_BYTES = 2**20
_ROOM_SECONDS = 20.0
"""Ray starts workers that cannot write their logs again and again, without an end."""
_EXIT_CODE = 2


@contextmanager
def watched(*, own_cluster: bool) -> Iterator[None]:
    """Inside the block this process ends, with one line and exit code 2, where its Ray node or the head is gone, or
    where the disk of a cluster of our own is full.

    The head of a cluster of our own (``own_cluster``) cannot come back; another's is waited for as long as Ray does.
    Ray must be connected; who leaves it inside the block is not watched any longer. What has been stored until then
    stays, as after ``kill -9``.
    """
    context = ray.get_runtime_context()
    nodes: list[dict[str, str]] = ray.nodes()  # type: ignore[no-untyped-call]
    node = next(node["RayletSocketName"] for node in nodes if node["NodeID"] == context.get_node_id())
    patience = float(os.environ.get(_HEAD_SECONDS_NAME) or _HEAD_SECONDS) * _PART
    stop, stopped = socket.socketpair()
    done = threading.Event()
    threads = [
        threading.Thread(
            target=watch_node, args=(node, stopped, ray.is_initialized), name="finray-ray-node", daemon=True
        ),
        threading.Thread(
            target=watch_head,
            args=(context.gcs_address, _OWN_HEAD_SECONDS if own_cluster else patience, done, ray.is_initialized),
            name="finray-ray-head",
            daemon=True,
        ),
    ]
    if own_cluster:
        folder = Path(node).parents[1]  # of the session: Ray's logs, and objects that do not fit into memory
        threads.append(
            threading.Thread(target=watch_room, args=(folder, _ROOM_SECONDS, done), name="finray-ray-room", daemon=True)
        )
    for thread in threads:
        thread.start()
    try:
        yield
    except BaseException:
        # Perhaps the first sign of it. Leaving Ray would be the end of this process then, before anything is said.
        if ray.is_initialized() and not _answers(context.gcs_address):
            _end(f"head at {context.gcs_address}")
        raise
    finally:
        done.set()
        stop.close()
        for thread in threads:
            thread.join()
        stopped.close()


def watch_node(path: str, stopped: socket.socket, in_use: Callable[[], bool]) -> None:
    """Until ``stopped`` is closed at its other end; the end of what listens at ``path`` is the end of this process
    while that is ``in_use``.

    A held connection tells at once. Ray notices by the same socket, the next time it needs the node.
    """
    node = _connected(path)
    while node is not None:
        with node:
            readable, _, _ = select.select([node, stopped], [], [])
        if stopped in readable:
            return
        node = _connected(path)
        time.sleep(_LOOK_SECONDS if node else 0.0)
    if in_use():
        _end(f"node of this process ({path})")


def watch_head(address: str, patience_s: float, done: threading.Event, in_use: Callable[[], bool]) -> None:
    """Until ``done``; where nothing has answered at ``address`` (host:port) for so long, this process ends while it is
    ``in_use``."""
    answered = time.monotonic()
    while not done.wait(_LOOK_SECONDS):
        if _answers(address):
            answered = time.monotonic()
        elif time.monotonic() - answered > patience_s and not done.is_set():
            if in_use():
                _end(f"head at {address}")
            return


def watch_room(folder: Path, patience_s: float, done: threading.Event) -> None:
    """Until ``done``; where the disk of ``folder`` has been full for so long, this process ends."""
    had_room = time.monotonic()
    while not done.wait(_LOOK_SECONDS):
        if shutil.disk_usage(folder).free >= _LEAST_BYTES:
            had_room = time.monotonic()
        elif time.monotonic() - had_room > patience_s and not done.is_set():
            _end_with(
                f"no space left on device for Ray: {str(folder)!r}, where it keeps its logs and what does not fit into "
                "memory. What was stored stays: make room, or name another folder in RAY_TMPDIR, and run the same "
                "command again to continue"
            )


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS):
            return True
    except OSError:
        return False


def _connected(path: str) -> socket.socket | None:
    node = socket.socket(socket.AF_UNIX)
    try:
        node.connect(path)
    except OSError:
        node.close()
        return None
    return node


def _end(what: str) -> NoReturn:
    _end_with(
        f"the Ray {what} is gone, and this job with it. What was stored stays: start a cluster unless this command "
        "starts its own, and run it again to continue"
    )


def _end_with(what: str) -> NoReturn:
    # The main thread may be inside of Ray, where no exception reaches it.
    sys.stderr.write(f"\nerror: ClusterError: {what}\n")
    sys.stderr.flush()
    os._exit(_EXIT_CODE)

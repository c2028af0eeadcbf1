"""Notice that the Ray cluster is gone for good, or has no room left, and say so.

Where its node or its head does not come back, Ray ends a process by itself: at once or after a minute, without a word
that tells what to do, and with exit code 1. No exception can be caught then, so this comes before it.
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import ray

from finray.cluster.last_word import LastWord, connected, reconnected

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


@contextmanager
def watched(*, own_cluster: bool) -> Iterator[None]:
    """Inside the block this process ends, with one line and exit code 2, where its Ray node or the head is gone, or
    where the disk of a cluster of our own is full. The exit code is 1 where Ray was first to notice that the node is
    gone.

    The head of a cluster of our own (``own_cluster``) cannot come back; another's is waited for as long as Ray does.
    Ray must be connected; who leaves it inside the block is not watched any longer. What has been stored until then
    stays, as after ``kill -9``.
    """
    context = ray.get_runtime_context()
    nodes: list[dict[str, str]] = ray.nodes()  # type: ignore[no-untyped-call]
    node = next(node["RayletSocketName"] for node in nodes if node["NodeID"] == context.get_node_id())
    head = context.gcs_address
    patience = float(os.environ.get(_HEAD_SECONDS_NAME) or _HEAD_SECONDS) * _PART
    stop, stopped = socket.socketpair()
    done = threading.Event()
    watches: list[Callable[[], str | None]] = [
        lambda: watch_node(node, stopped),
        lambda: watch_head(head, _OWN_HEAD_SECONDS if own_cluster else patience, done),
    ]
    if own_cluster:
        folder = Path(node).parents[1]  # of the session: Ray's logs, and objects that do not fit into memory
        watches.append(lambda: watch_room(folder, _ROOM_SECONDS, done))
    last_word = LastWord(node, _node_gone(node))

    def run(watch: Callable[[], str | None]) -> None:
        if why := watch():
            if ray.is_initialized():
                last_word.end(why)
            last_word.no_more()

    threads = [threading.Thread(target=run, args=[watch], name="finray-ray-watch", daemon=True) for watch in watches]
    for thread in threads:
        thread.start()
    try:
        yield
    except BaseException:
        # Perhaps the first sign of it. Leaving Ray would be the end of this process then, before anything is said.
        if ray.is_initialized():
            if not (peer := reconnected(node)):
                last_word.end(_node_gone(node))
            peer.close()
            if not _answers(head):
                last_word.end(_head_gone(head))
        raise
    finally:
        done.set()
        stop.close()
        for thread in threads:
            thread.join()
        stopped.close()
        last_word.no_more()


def watch_node(path: str, stopped: socket.socket) -> str | None:
    """Until ``stopped`` is closed at its other end: None. Where what listens at ``path`` ends before: an error.

    A held connection tells at once. Ray notices by the same socket, the next time it needs the node.
    """
    node = connected(path)
    while node is not None:
        with node:
            readable, _, _ = select.select([node, stopped], [], [])
        if stopped in readable:
            return None
        node = reconnected(path)
    return _node_gone(path)


def watch_head(address: str, patience_s: float, done: threading.Event) -> str | None:
    """Until ``done``: None. Where nothing has answered at ``address`` (host:port) for so long: an error."""
    answered = time.monotonic()
    while not done.wait(_LOOK_SECONDS):
        if _answers(address):
            answered = time.monotonic()
        elif time.monotonic() - answered > patience_s and not done.is_set():
            return _head_gone(address)
    return None


def watch_room(folder: Path, patience_s: float, done: threading.Event) -> str | None:
    """Until ``done``: None. Where the disk of ``folder`` has been full for so long: an error."""
    had_room = time.monotonic()
    while not done.wait(_LOOK_SECONDS):
        if shutil.disk_usage(folder).free >= _LEAST_BYTES:
            had_room = time.monotonic()
        elif time.monotonic() - had_room > patience_s and not done.is_set():
            return (
                f"no space left on device for Ray: {str(folder)!r}, where it keeps its logs and what does not fit into "
                "memory. What was stored stays: make room, or name another folder in RAY_TMPDIR, and run the same "
                "command again to continue"
            )
    return None


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS):
            return True
    except OSError:
        return False


def _node_gone(path: str) -> str:
    return _gone(f"node of this process ({path})")


def _head_gone(address: str) -> str:
    return _gone(f"head at {address}")


def _gone(what: str) -> str:
    return (
        f"the Ray {what} is gone, and this job with it. What was stored stays: start a cluster unless this command "
        "starts its own, and run it again to continue"
    )

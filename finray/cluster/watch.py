"""Exits with a clear message if the Ray cluster is gone for good, or its disk is full.

If the node or head of a process does not come back, Ray ends the process, at once or after a minute, with exit code 1
and no advice. It raises no exception, so this must come first.
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

from finray.cluster.last_message import LastMessage, connected, reconnected

_CHECK_SECONDS = 0.5
_CONNECT_SECONDS = 5.0
_OWN_HEAD_SECONDS = 3.0
_HEAD_SECONDS_NAME = "RAY_gcs_rpc_server_reconnect_timeout_s"
_HEAD_SECONDS = 60.0
"""How long Ray waits for a head to restart, unless the variable is set."""
_HEAD_PATIENCE = 0.75
"""Share of that time after which the head counts as gone, before Ray gives up."""
_MIN_FREE_BYTES = 2**20
_FULL_DISK_SECONDS = 20.0
"""Ray would restart workers that cannot write their logs forever."""


@contextmanager
def watched(*, own_cluster: bool) -> Iterator[None]:
    """Inside the block, exit with one line and code 2 if the process's Ray node or the head is gone, or the disk of its
    own cluster is full. The code is 1 if Ray notices first that the node is gone.

    The head of a cluster that this process started (``own_cluster``) cannot come back; another is waited for nearly as
    long as Ray waits. Ray must be connected; the watch ends if it is disconnected inside the block. What was stored
    stays, as after ``kill -9``.
    """
    context = ray.get_runtime_context()
    nodes: list[dict[str, str]] = ray.nodes()  # type: ignore[no-untyped-call]
    node = next(node["RayletSocketName"] for node in nodes if node["NodeID"] == context.get_node_id())
    head = context.gcs_address
    patience = float(os.environ.get(_HEAD_SECONDS_NAME) or _HEAD_SECONDS) * _HEAD_PATIENCE
    stop, stopped = socket.socketpair()
    done = threading.Event()
    watches: list[Callable[[], str | None]] = [
        lambda: watch_node(node, stopped),
        lambda: watch_head(head, _OWN_HEAD_SECONDS if own_cluster else patience, done),
    ]
    if own_cluster:
        folder = Path(node).parents[1]  # the session's: Ray's logs, and objects that do not fit into memory
        watches.append(lambda: watch_room(folder, _FULL_DISK_SECONDS, done))
    last_message = LastMessage(node, _node_gone(node))

    def run(watch: Callable[[], str | None]) -> None:
        if problem := watch():
            if ray.is_initialized():
                last_message.exit_with(problem)
            last_message.cancel()

    threads = [threading.Thread(target=run, args=[watch], name="finray-ray-watch", daemon=True) for watch in watches]
    for thread in threads:
        thread.start()
    try:
        yield
    except BaseException:
        # The error may be the first sign of a lost cluster. Then ray.shutdown() would end this process silently.
        if ray.is_initialized():
            if not (peer := reconnected(node)):
                last_message.exit_with(_node_gone(node))
            peer.close()
            if not _answers(head):
                last_message.exit_with(_head_gone(head))
        raise
    finally:
        done.set()
        stop.close()
        for thread in threads:
            thread.join()
        stopped.close()
        last_message.cancel()


def watch_node(path: str, stopped: socket.socket) -> str | None:
    """Wait until the listener at ``path`` ends and return an error, or until ``stopped`` is closed and return None.

    A held connection notices at once; Ray uses the same socket, and notices the next time that it needs the node.
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
    """Wait until nothing has answered at ``address`` (host:port) for ``patience_s`` and return an error, or until
    ``done`` and return None."""
    return _head_gone(address) if _fails(lambda: _answers(address), patience_s, done) else None


def watch_room(folder: Path, patience_s: float, done: threading.Event) -> str | None:
    """Wait until the disk of ``folder`` has been full for ``patience_s`` and return an error, or until ``done`` and
    return None."""
    if not _fails(lambda: shutil.disk_usage(folder).free >= _MIN_FREE_BYTES, patience_s, done):
        return None
    return (
        f"no space left on device for Ray: {str(folder)!r} holds its logs and objects that do not fit into memory. "
        "What was stored stays: make room, or set RAY_TMPDIR to another folder, and run the command again to continue"
    )


def _fails(check: Callable[[], bool], patience_s: float, done: threading.Event) -> bool:
    """Wait until ``check`` has been false for ``patience_s`` (True), or until ``done`` (False)."""
    succeeded = time.monotonic()
    while not done.wait(_CHECK_SECONDS):
        if check():
            succeeded = time.monotonic()
        elif time.monotonic() - succeeded > patience_s and not done.is_set():
            return True
    return False


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
        f"the Ray {what} is gone, so this job ends. What was stored stays: start a cluster unless this command starts "
        "its own, and run it again to continue"
    )

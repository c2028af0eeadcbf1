"""Notice that the Ray cluster is gone for good, and say so.

Where its node or its head does not come back, Ray ends a process by itself: after up to a minute, without a word that
tells what to do, and with exit code 1. Nothing can be caught then, so this comes before it.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

import ray

_LOOK_SECONDS = 0.5
_CONNECT_SECONDS = 5.0
_GONE_SECONDS = 3.0
"""What this machine refuses for so long is not there any more."""
_HEAD_SECONDS_NAME = "RAY_gcs_rpc_server_reconnect_timeout_s"
_HEAD_SECONDS = 60.0
"""How long Ray waits for a head that restarts, unless the variable says otherwise."""
_PART = 0.75
"""Of that time, after which the head is called gone: just before Ray does."""

_EXIT_CODE = 2


@dataclass(frozen=True, slots=True)
class _Place:
    """What must answer, and how long it may fail to."""

    what: str
    host: str
    port: int
    seconds: float

    def answers(self) -> bool:
        try:
            with socket.create_connection((self.host, self.port), _CONNECT_SECONDS):
                return True
        except OSError:
            return False


@contextmanager
def watched(*, own_cluster: bool) -> Iterator[None]:
    """Inside the block this process ends, with one line and exit code 2, where its Ray node or the head is gone.

    The head of a cluster of our own (``own_cluster``) cannot come back; another's is waited for as long as Ray does.
    Ray must be connected. What has been stored until then stays, as after ``kill -9``.
    """
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(_places(own_cluster), done), name="finray-ray-watch", daemon=True)
    watch.start()
    try:
        yield
    finally:
        done.set()
        watch.join()


def _places(own_cluster: bool) -> list[_Place]:
    context = ray.get_runtime_context()
    host, _, port = context.gcs_address.rpartition(":")
    patience = float(os.environ.get(_HEAD_SECONDS_NAME) or _HEAD_SECONDS) * _PART
    head = _Place("head", host.strip("[]"), int(port), _GONE_SECONDS if own_cluster else patience)
    own_nodes = [
        _Place("node", node["NodeManagerAddress"], node["NodeManagerPort"], _GONE_SECONDS)
        for node in ray.nodes()  # type: ignore[no-untyped-call]
        if node["NodeID"] == context.get_node_id()
    ]
    return [head, *own_nodes]


def _watch(places: list[_Place], done: threading.Event) -> None:
    answered = dict.fromkeys(places, time.monotonic())
    while not done.wait(_LOOK_SECONDS):
        for place in places:
            if place.answers():
                answered[place] = time.monotonic()
            elif time.monotonic() - answered[place] > place.seconds and not done.is_set():
                _end(place)


def _end(place: _Place) -> NoReturn:
    # The main thread may be inside of Ray, where no exception reaches it.
    sys.stderr.write(
        f"\nerror: ClusterError: the Ray {place.what} at {place.host}:{place.port} is gone, and this job with it. What "
        "was stored stays: start a cluster unless this command starts its own, and run it again to continue\n"
    )
    sys.stderr.flush()
    os._exit(_EXIT_CODE)

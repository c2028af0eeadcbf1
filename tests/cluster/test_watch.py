"""Watches notice a lost cluster. tests/faults/test_processes.py has the exit of a job."""

from __future__ import annotations

import shutil
import socket
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from finray.cluster import watch
from finray.cluster.watch import watch_head, watch_node, watch_room

pytestmark = pytest.mark.timeout(60)

Usage = namedtuple("Usage", ["free"])


def test_a_closed_connection_is_retried_and_a_lost_node_is_an_error(tmp_path: Path) -> None:
    path = str(tmp_path / "raylet")
    stop, stopped = socket.socketpair()
    with stop, stopped, ThreadPoolExecutor(1) as pool, socket.socket(socket.AF_UNIX) as node:
        node.bind(path)
        node.listen()
        watching = pool.submit(watch_node, path, stopped)
        node.accept()[0].close()
        connection, _ = node.accept()
        assert not watching.done()
        connection.close()
        node.close()
        error = watching.result()
    assert error
    assert f"the Ray node of this process ({path}) is gone" in error
    assert "run it again to continue" in error


def test_a_watch_of_a_node_can_be_stopped(tmp_path: Path) -> None:
    path = str(tmp_path / "raylet")
    stop, stopped = socket.socketpair()
    with stopped, ThreadPoolExecutor(1) as pool, socket.socket(socket.AF_UNIX) as node:
        node.bind(path)
        node.listen()
        watching = pool.submit(watch_node, path, stopped)
        stop.close()
        assert watching.result() is None


def test_a_head_that_does_not_come_back_is_an_error() -> None:
    with ThreadPoolExecutor(1) as pool, socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        watching = pool.submit(watch_head, address, 0.2, threading.Event())
        head.accept()[0].close()
        head.accept()[0].close()
        assert not watching.done()
        head.close()
        error = watching.result()
    assert error
    assert f"the Ray head at {address} is gone" in error


def test_a_disk_that_is_full_for_a_while_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free=0))
    error = watch_room(tmp_path, 0.1, threading.Event())
    assert error
    assert repr(str(tmp_path)) in error


def test_a_watch_that_is_done_reports_nothing(tmp_path: Path) -> None:
    done = threading.Event()
    done.set()
    assert watch_head("127.0.0.1:1", 0.0, done) is None
    assert watch_room(tmp_path, 0.0, done) is None

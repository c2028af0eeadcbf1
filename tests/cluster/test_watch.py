"""The end of a cluster is the end of the process that used it, which says so."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

NODE = """
import socket, sys
from finray.cluster.watch import watch_node
stop, stopped = socket.socketpair()
watch_node(sys.argv[1], stopped, lambda: len(sys.argv) == 2)
"""
HEAD = """
import sys, threading
from finray.cluster.watch import watch_head
watch_head(sys.argv[1], 0.2, threading.Event(), lambda: len(sys.argv) == 2)
"""


def watching(program: str, *where: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", program, *where], stderr=subprocess.PIPE, text=True)


@pytest.mark.timeout(60)
def test_a_node_that_closes_a_connection_is_asked_again_and_one_that_ends_ends_the_process(tmp_path: Path) -> None:
    path = str(tmp_path / "raylet")
    with socket.socket(socket.AF_UNIX) as node:
        node.bind(path)
        node.listen()
        with watching(NODE, path) as process:
            node.accept()[0].close()
            connection, _ = node.accept()
            assert process.poll() is None
            node.close()
            connection.close()
            _, said = process.communicate()
    assert process.returncode == 2
    assert f"the Ray node of this process ({path}) is gone" in said
    assert "run it again to continue" in said


@pytest.mark.timeout(60)
def test_a_head_that_does_not_come_back_ends_the_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        with watching(HEAD, address) as process:
            head.accept()[0].close()
            head.accept()[0].close()
            assert process.poll() is None
            head.close()
            _, said = process.communicate()
    assert process.returncode == 2
    assert f"the Ray head at {address} is gone" in said


@pytest.mark.timeout(60)
def test_who_has_left_ray_does_not_end_with_it(tmp_path: Path) -> None:
    for program, where in ((NODE, str(tmp_path / "nothing")), (HEAD, "127.0.0.1:1")):
        with watching(program, where, "left") as process:
            _, said = process.communicate()
        assert (process.returncode, said) == (0, "")

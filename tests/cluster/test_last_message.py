"""A process that Ray kills still prints the reason, once."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from finray.cluster import last_message

pytestmark = pytest.mark.timeout(60)

PROGRAM = """
import os, signal, sys
from finray.cluster.last_message import LastMessage
last_message = LastMessage(sys.argv[1], "the node is gone")
print("ready", flush=True)
sys.stdin.readline()
"""
AS_RAY_DOES = "os._exit(1)"
KILLED = "os.kill(os.getpid(), signal.SIGKILL)"
CANCEL = "last_message.cancel(); last_message.cancel(); os._exit(1)"
EXIT = "last_message.exit_with('the disk is full')"


class Node:
    """What listens at ``path``, as a Ray node does."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(self.path)
        self._listening.listen()
        self._peers: list[socket.socket] = []

    def accept(self) -> None:
        self._peers.append(self._listening.accept()[0])

    def end(self) -> None:
        """Connections first, as the kernel may do for a killed process."""
        for peer in self._peers:
            peer.close()
        self._listening.close()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path / "raylet")
    yield node
    node.end()


def run(node: Node, ending: str, *, node_ends: bool) -> tuple[int, str]:
    """Exit code and standard error, its child's included, of a process with this ``ending``."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM + ending, node.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        assert process.stdout.readline() == "ready\n"
        node.accept()
        if node_ends:
            node.end()
        process.stdin.write("\n")
        process.stdin.close()
        printed = process.stderr.read()  # until the child has ended, too
    return process.returncode, printed


def test_a_process_that_ends_after_its_node_prints_why(node: Node) -> None:
    code, printed = run(node, AS_RAY_DOES, node_ends=True)
    assert (code, printed) == (1, "\nerror: ClusterError: the node is gone\n")


def test_a_process_that_ends_beside_a_living_node_prints_nothing(node: Node) -> None:
    assert run(node, KILLED, node_ends=False) == (-signal.SIGKILL, "")


def test_nothing_is_printed_after_cancel(node: Node) -> None:
    assert run(node, CANCEL, node_ends=True) == (1, "")


def test_another_error_is_printed_alone(node: Node) -> None:
    assert run(node, EXIT, node_ends=True) == (2, "\nerror: ClusterError: the disk is full\n")


def test_a_line_is_printed_even_if_the_child_was_killed(node: Node) -> None:
    killed = "last_message._child.kill(); last_message._child.wait(); "
    assert run(node, killed + EXIT, node_ends=True) == (2, "\nerror: ClusterError: the disk is full\n")


def test_a_node_that_takes_a_connection_while_it_ends_is_gone(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_message, "_CLOSING_SECONDS", 30.0)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(last_message.reconnected, node.path)
        node.accept()
        node.end()
        assert asking.result() is None


def test_the_child_imports_only_the_standard_library() -> None:
    """It starts beside every job, so it must be cheap."""
    alone = "import runpy, sys; runpy.run_path(sys.argv[1])"
    subprocess.run([sys.executable, "-I", "-S", "-c", alone, last_message.__file__], check=True)

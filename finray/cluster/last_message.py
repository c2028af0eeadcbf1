"""Last message of a process that Ray may kill.

If its node dies, Ray's C++ side ends a process as soon as it touches shared memory: at any moment of the main thread,
without a message, and before another thread can run. So a child process, which runs this file as a program, waits
beside it and prints the message in its place. Only the standard library is imported here: the child starts in a few
hundredths of a second.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import NoReturn

EXIT_CODE = 2
_CANCELLED = b"."
_CLOSING_SECONDS = 0.2
_PAUSE_SECONDS = 0.02


class LastMessage:
    """Prints ``node_gone`` as an error if this process ends after the listener at ``node`` (path of a Unix socket),
    unless ``exit_with`` or ``cancel`` was called before."""

    def __init__(self, node: str, node_gone: str) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, node, node_gone],
            stdin=subprocess.PIPE,
            bufsize=0,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this process
        )
        self._lock = threading.Lock()

    def exit_with(self, line: str) -> NoReturn:
        """Print ``line`` and exit at once: the main thread may be inside Ray, where no exception reaches it.

        The child prints it: one write hands it over, and Ray could end this process after any write.
        """
        if not self._send(line.encode()):
            print_error(line)
        os._exit(EXIT_CODE)

    def cancel(self) -> None:
        """Print nothing, and end the child. May be called again."""
        self._send(_CANCELLED)

    def _send(self, message: bytes) -> bool:
        """Send the child its only message. False if it was killed before it received this or an earlier one."""
        assert self._child.stdin is not None
        with self._lock:
            if not self._child.stdin.closed:
                with suppress(BrokenPipeError):
                    self._child.stdin.write(message)
                self._child.stdin.close()
        return self._child.wait() == 0


def print_error(line: str) -> None:
    """Print ``line`` on standard error as an error of the cluster."""
    sys.stderr.write(f"\nerror: ClusterError: {line}\n")
    sys.stderr.flush()


def connected(node: str) -> socket.socket | None:
    """A connection to the Unix socket at ``node``; None if nothing listens there."""
    peer = socket.socket(socket.AF_UNIX)
    try:
        peer.connect(node)
    except OSError:
        peer.close()
        return None
    return peer


def reconnected(node: str) -> socket.socket | None:
    """A new connection after one was lost; None if the node is gone or ending. A node that ends closes its sockets one
    after another, so a connection that is lost at once does not count."""
    while peer := connected(node):
        closed, _, _ = select.select([peer], [], [], _CLOSING_SECONDS)
        if not closed:
            return peer
        peer.close()
        time.sleep(_PAUSE_SECONDS)
    return None


def wait_beside(node: str, node_gone: str) -> None:
    """Wait for the end of standard input, then print its content, or ``node_gone`` if it is empty and the node is gone.

    A held connection shows whether the node ended first: if the process was killed, its own node ends just after it.
    """
    peer = connected(node)
    stdin = sys.stdin.fileno()
    while True:
        readable, _, _ = select.select([stdin, peer] if peer else [stdin], [], [])
        if peer and peer in readable:
            peer.close()
            peer = reconnected(node)
        if stdin in readable:
            message = sys.stdin.buffer.read()
            if message and message != _CANCELLED:
                print_error(message.decode())
            elif not message and not peer:
                print_error(node_gone)
            return


if __name__ == "__main__":
    wait_beside(*sys.argv[1:])

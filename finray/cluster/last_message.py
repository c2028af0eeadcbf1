"""What a process says that may be ended from inside of Ray.

Where its node dies, Ray's C++ side ends a process as soon as it touches shared memory: at any moment of the main
thread, without a word, and before another thread can run. So a child, this file run as a program, waits beside the
process and says the line where it could not. Only the standard library is imported here: it starts in a few hundredths
of a second.
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
_NOTHING = b"."
_ENDING_SECONDS = 0.2
_PAUSE_SECONDS = 0.02


class LastWord:
    """The line ``node_gone`` (of an error) is said where this process ends while what listens at ``node`` (path of a
    socket) is gone, unless ``end`` or ``no_more`` came before."""

    def __init__(self, node: str, node_gone: str) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, node, node_gone],
            stdin=subprocess.PIPE,
            bufsize=0,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this process
        )
        self._telling = threading.Lock()

    def end(self, line: str) -> NoReturn:
        """Say ``line`` and end this process at once: its main thread may be inside of Ray, where no exception reaches
        it.

        The child says it: one write hands it over, and Ray could end this process after any that this one makes.
        """
        if not self._told(line.encode()):
            say(line)
        os._exit(EXIT_CODE)

    def no_more(self) -> None:
        """The child has nothing to say any more, and ends. May be called again."""
        self._told(_NOTHING)

    def _told(self, what: bytes) -> bool:
        """Whether the child has taken this, or was told before; not where it was killed."""
        assert self._child.stdin is not None
        with self._telling:
            if not self._child.stdin.closed:
                with suppress(BrokenPipeError):
                    self._child.stdin.write(what)
                self._child.stdin.close()
        return self._child.wait() == 0


def say(line: str) -> None:
    """``line`` on standard error, as an error of the cluster."""
    sys.stderr.write(f"\nerror: ClusterError: {line}\n")
    sys.stderr.flush()


def connected(node: str) -> socket.socket | None:
    """A connection to the Unix socket at ``node``; None where nothing listens there."""
    peer = socket.socket(socket.AF_UNIX)
    try:
        peer.connect(node)
    except OSError:
        peer.close()
        return None
    return peer


def reconnected(node: str) -> socket.socket | None:
    """As ``connected``, after a connection was lost; None also where the node is just ending, which closes its sockets
    one after another: a new connection is then lost at once."""
    while peer := connected(node):
        ended, _, _ = select.select([peer], [], [], _ENDING_SECONDS)
        if not ended:
            return peer
        peer.close()
        time.sleep(_PAUSE_SECONDS)
    return None


def wait_beside(node: str, node_gone: str) -> None:
    """Until standard input ends, and say what it held; ``node_gone`` where it was empty and the node ended before it.

    The connection is held meanwhile: where the process was killed, a node of its own ends just after it.
    """
    peer = connected(node)
    stdin = sys.stdin.fileno()
    while True:
        readable, _, _ = select.select([stdin, peer] if peer else [stdin], [], [])
        if peer and peer in readable:
            peer.close()
            peer = reconnected(node)
        if stdin in readable:
            told = sys.stdin.buffer.read()
            if told and told != _NOTHING:
                say(told.decode())
            elif not told and not peer:
                say(node_gone)
            return


if __name__ == "__main__":
    wait_beside(*sys.argv[1:])

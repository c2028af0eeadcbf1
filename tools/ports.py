"""Ports for servers that tests and tools start as processes of their own."""

from __future__ import annotations

import errno
import random
import socket

_RANGE = range(20_000, 32_768)
"""Above the ports of Ray's workers (10002 to 19999), below those that systems give to outgoing connections: a port of
the latter can be taken by any connection before the server binds it."""


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listens on now. Raises OSError if 100 random ports are all taken."""
    for port in random.sample(_RANGE, 100):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    raise OSError(errno.EADDRINUSE, f"100 random ports from {_RANGE.start} to {_RANGE.stop - 1} are all taken")

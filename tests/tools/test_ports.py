"""Ports for servers that tests start."""

from __future__ import annotations

import socket

import pytest

from tools.ports import free_port


def test_the_port_is_free_and_not_one_of_outgoing_connections() -> None:
    port = free_port()
    assert 20_000 <= port < 32_768
    socket.create_server(("127.0.0.1", port)).close()


def test_a_taken_port_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        used = taken.getsockname()[1]
        other = free_port()
        monkeypatch.setattr("tools.ports.random.sample", lambda _range, _count: [used, other])
        assert free_port() == other
        monkeypatch.setattr("tools.ports.random.sample", lambda _range, _count: [used])
        with pytest.raises(OSError, match="all taken"):
            free_port()

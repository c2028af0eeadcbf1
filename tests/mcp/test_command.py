"""`finray mcp` as clients start it: with the configuration of the documentation."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from finray.index.reading.reader import IndexReader
from tests.weightless import OPTIONS
from tools.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
async def test_a_client_starts_it_and_asks(sample_index: str, reader: IndexReader) -> None:
    company = next(filing.company for filing in reader.filings() if filing.form == "10-K")
    (shown, *_) = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "integrations.md").read_text(), re.DOTALL)
    arguments = json.loads(shown)["mcpServers"]["finray"]["args"]
    chosen = [sample_index if argument == "my-index" else argument for argument in arguments]
    command = ["-m", "finray.cli", *chosen, *OPTIONS]
    server = StdioServerParameters(
        command=sys.executable, args=command, cwd=str(ROOT), env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    async with Client(server) as client:
        assert len((await client.list_tools()).tools) == 6
        found = await client.call_tool("ask", {"question": f"What was {company}'s revenue in fiscal 2022?"})
    assert found.structured_content is not None
    assert found.structured_content["status"] == "answered"
    assert found.structured_content["cells"][0]["citation"]["text"]


@pytest.mark.slow
async def test_over_http_it_prints_its_key_and_ends_with_ctrl_c(sample_index: str, tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "finray.cli", "mcp", "--index", sample_index, *OPTIONS]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(tmp_path)}
    with subprocess.Popen(
        [*command, "--http", "--port", str(port)], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            lines = iter(process.stderr.readline, "")
            key = next(match[0] for line in lines if (match := re.search(r"frk_\w{12}_[\w-]{43}", line)))
            url = f"http://127.0.0.1:{port}/mcp"
            while not _listens(port):
                await asyncio.sleep(0.1)
            async with (
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                found = await client.call_tool("list_filings", {"limit": 1})
            assert found.structured_content is not None
            assert found.structured_content["filings"][0]["link"].startswith(f"http://127.0.0.1:{port}/v1/filings/")
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0, process.stderr.read()
        finally:
            process.kill()


def _listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0

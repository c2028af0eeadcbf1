"""The MCP server over streamable HTTP, beside the routes of the service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from finray.api.app import create_app
from finray.api.keys import KeyRing
from finray.api.service import LocalService
from finray.core.settings import Settings
from finray.mcp.http import McpEndpoint
from tests.api.batch_service import Borrowed

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
Start = Callable[..., str]


@pytest.fixture(scope="module")
def start(service: LocalService, serving_settings: Settings, keys_file: Path, listen: Callable[[Any], str]) -> Start:
    """Starts the service with changed settings; returns its URL."""

    def begin(auth: bool = True, **changed: Any) -> str:
        settings = serving_settings.serving.model_copy(update=changed)
        keys = KeyRing(str(keys_file), 0.0) if auth else None
        return listen(create_app(Borrowed(service), settings, keys, endpoints=[McpEndpoint]))

    return begin


@pytest.fixture(scope="module")
def url(start: Start) -> str:
    return start()


def post(url: str, key: str, **more: str) -> httpx.Response:
    return httpx.post(f"{url}/mcp", json=LIST, headers=HEADERS | {"Authorization": f"Bearer {key}"} | more)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_with_a_key_uses_the_tools(url: str, key: str, mode: str) -> None:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        assert len((await client.list_tools()).tools) == 6
        found = await client.call_tool("list_filings", {"limit": 1})
        assert found.structured_content is not None
        filing_id = found.structured_content["filings"][0]["filing_id"]
        page = await client.call_tool("read_page", {"filing_id": filing_id, "page": 0})
        wrong = await client.call_tool("read_page", {"filing_id": filing_id, "page": 999})
    assert page.structured_content is not None and wrong.is_error
    assert page.structured_content["citation"]["link"] == f"{url}/v1/filings/{filing_id}/pages/0"


def test_a_client_without_a_valid_key_gets_no_tool(url: str) -> None:
    missing = httpx.post(f"{url}/mcp", json=LIST, headers=HEADERS)
    assert (missing.status_code, missing.headers["www-authenticate"]) == (401, "Bearer")
    assert post(url, "frk_000000000000_" + 43 * "x").json()["error"]["code"] == "invalid_api_key"


def test_without_keys_only_this_machine_is_served(start: Start) -> None:
    url = start(auth=False)
    assert httpx.post(f"{url}/mcp", json=LIST, headers=HEADERS).status_code == 200
    rebound = httpx.post(f"{url}/mcp", json=LIST, headers=HEADERS | {"Host": "evil.example"})
    assert rebound.json()["error"]["code"] == "not_local"


def test_requests_and_questions_count_toward_the_limits_of_the_key(start: Start, key: str) -> None:
    url = start(reads_per_minute=6.0, max_questions=1)
    assert post(url, key).status_code == 200
    assert post(url, key).json()["error"]["code"] == "rate_limit"
    url = start(questions_per_minute=6.0, max_questions=1)
    call = {"name": "search_passages", "arguments": {"query": "revenue", "limit": 1}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    replies = [
        httpx.post(f"{url}/mcp", json=asked, headers=HEADERS | {"Authorization": f"Bearer {key}"}) for _ in range(2)
    ]
    assert "serving.questions_per_minute" not in replies[0].text
    assert "this key may ask 6 a minute (serving.questions_per_minute)" in replies[1].text


def test_a_request_that_is_not_a_call_is_refused(url: str, key: str) -> None:
    headers = HEADERS | {"Authorization": f"Bearer {key}"}
    assert httpx.get(f"{url}/mcp", headers=headers).json()["error"]["code"] == "method_not_allowed"
    assert httpx.post(f"{url}/mcp", content=b"{", headers=headers | {"Content-Type": "application/json"}).is_error
    long = {**LIST, "params": {"cursor": "x" * 300_000}}
    assert httpx.post(f"{url}/mcp", json=long, headers=headers).status_code == 413
    assert httpx.get(f"{url}/v1/filings", headers=headers).status_code == 200

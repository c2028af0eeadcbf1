from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from finray.api.app import create_app
from finray.api.keys import KeyRing, add_key, keys_location, new_key, read_keys, revoke_key
from finray.api.service import LocalService
from finray.core.errors import SourceError, UsageError
from finray.core.settings import Settings


def test_a_key_is_stored_as_a_hash_that_only_its_owner_can_read(tmp_path: Path) -> None:
    file = tmp_path / "new" / "keys.json"
    text = add_key(str(file), "ana")
    assert text not in file.read_text()
    assert text.rpartition("_")[2] not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    (key,) = read_keys(str(file))
    assert (key.name, key.revoked_at) == ("ana", None)


async def test_a_key_must_match_completely(tmp_path: Path) -> None:
    file = str(tmp_path / "keys.json")
    text, other = add_key(file, "ana"), add_key(file, "ben")
    ring = KeyRing(file, 0.0)
    assert len(ring) == 2
    found = await ring.find(text)
    assert found is not None
    assert found.name == "ana"
    mixed = text[:17] + other[17:]
    for wrong in ("", "frk_", text[:-1], text + "a", text[:-1] + ("a" if text[-1] != "a" else "b"), mixed, "é" * 60):
        assert await ring.find(wrong) is None, wrong


async def test_a_revoked_key_stops_working_and_its_name_is_free(tmp_path: Path) -> None:
    file = str(tmp_path / "keys.json")
    now = [0.0]
    text = add_key(file, "ana")
    ring = KeyRing(file, 5.0, clock=lambda: now[0])
    revoke_key(file, "ana")
    assert await ring.find(text) is not None  # until the file is read again
    now[0] = 6.0
    assert await ring.find(text) is None
    again = add_key(file, "ana")
    now[0] = 12.0
    assert await ring.find(again) is not None
    assert [key.revoked_at is None for key in read_keys(file)] == [False, True]


async def test_a_file_that_breaks_leaves_the_keys_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    text = add_key(str(file), "ana")
    ring = KeyRing(str(file), 0.0)
    file.write_text("{")
    assert await ring.find(text) is not None
    with pytest.raises(SourceError, match="not a file of API keys"):
        read_keys(str(file))


@pytest.mark.parametrize("name", ["", "a b", "../x", "a" * 65, "é"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        new_key(name)


def test_a_name_is_used_once(tmp_path: Path) -> None:
    file = str(tmp_path / "keys.json")
    add_key(file, "ana")
    with pytest.raises(UsageError, match="already"):
        add_key(file, "ana")
    with pytest.raises(UsageError, match="in use"):
        revoke_key(file, "ben")


def test_keys_are_stored_in_the_user_configuration_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert keys_location("") == str(tmp_path / "finray" / "keys.json")
    assert keys_location("s3://bucket/keys.json") == "s3://bucket/keys.json"


PROTECTED = [
    ("POST", "/v1/answer"),
    ("POST", "/v1/retrieve"),
    ("GET", "/v1/filings"),
    ("GET", "/v1/filings/abc"),
    ("GET", "/v1/filings/abc/pages/0"),
    ("GET", "/v1/filings/abc/pages/0/image"),
    ("GET", "/metrics"),
    ("GET", "/v1/metrics"),
]


@pytest.mark.parametrize(("method", "path"), PROTECTED)
@pytest.mark.parametrize("header", [None, "Bearer ", "Bearer wrong", "Basic YTpi", "frk_x"])
def test_without_a_key_a_request_is_refused(client: TestClient, method: str, path: str, header: str | None) -> None:
    headers = {"Authorization": header} if header is not None else {}
    del client.headers["Authorization"]
    reply = client.request(method, path, headers=headers, json={"question": "q"} if method == "POST" else None)
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == "Bearer"
    assert reply.json()["error"]["type"] == "authentication_error"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/v1/healthz", "/v1/readyz", "/v1/openapi.json"])
def test_probes_need_no_key(client: TestClient, path: str) -> None:
    del client.headers["Authorization"]
    assert client.get(path).status_code == 200


@pytest.mark.slow
def test_every_other_route_of_the_openapi_file_requires_a_key(client: TestClient) -> None:
    paths = client.get("/v1/openapi.json").json()["paths"]
    operations = {(m.upper(), path) for path, methods in paths.items() for m in methods if "security" in methods[m]}
    public = {("GET", "/v1/healthz"), ("GET", "/v1/readyz")}
    assert operations == {(m.upper(), path) for path, methods in paths.items() for m in methods} - public


@pytest.mark.parametrize(
    ("peer", "host", "status"),
    [
        ("127.0.0.1", "localhost", 200),
        ("::1", "[::1]", 200),
        ("192.0.2.7", "localhost", 403),
        ("127.0.0.1", "evil.example", 403),
    ],
)
def test_without_keys_only_this_machine_is_served(
    service: LocalService, serving_settings: Settings, peer: str, host: str, status: int
) -> None:
    app = create_app(service, serving_settings.serving, None)
    client = TestClient(app, base_url=f"http://{host}:8000", client=(peer, 5000))
    assert client.get("/v1/filings").status_code == status


@pytest.mark.slow
def test_neither_keys_nor_questions_are_logged(client: TestClient, key: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", logger="finray"):
        client.post("/v1/answer", json={"question": "What is the secret of CLDVC?"})
    (line,) = (record for record in caplog.records if record.name == "finray.api.access")
    logged = json.dumps(line.fields)  # type: ignore[attr-defined]
    assert line.fields["key"] == "tester"  # type: ignore[attr-defined]
    assert line.fields["route"] == "/v1/answer"  # type: ignore[attr-defined]
    assert key not in logged
    assert "secret" not in caplog.text + logged

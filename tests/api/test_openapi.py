"""The OpenAPI file: replies match it, and no input that matches it, or nearly does, breaks the service."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import response_schema_conformance

from finray.api.app import create_app, openapi_text
from finray.api.batches.batches import Batches
from finray.api.service import LocalService
from finray.batch.stored_lines import PREDICTION_SCHEMA
from finray.core.replies import EVENTS
from finray.core.settings import Settings

FILE = Path(__file__).parents[2] / "docs" / "openapi.json"
DESCRIPTION: Any = json.loads(FILE.read_text(encoding="utf-8"))
SCHEMA: Any = schemathesis.openapi.from_dict(DESCRIPTION)


@pytest.fixture(scope="module")
def url(
    service: LocalService,
    serving_settings: Settings,
    listen: Callable[[Any], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    batches = Batches(str(tmp_path_factory.mktemp("batches")), service, serving_settings)
    return listen(create_app(service, serving_settings.serving, None, batches=batches))


@SCHEMA.parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_few_requests_of_any_kind_break_nothing(case: schemathesis.Case[Any], url: str) -> None:
    check(case, url)


@pytest.mark.slow
@SCHEMA.parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_breaks_the_service(case: schemathesis.Case[Any], url: str) -> None:
    check(case, url)


def check(case: schemathesis.Case[Any], url: str) -> None:
    """The service does not fail, and its reply matches the OpenAPI file."""
    response = case.call(base_url=url)
    if response.text == "Invalid HTTP request received.":
        return  # uvicorn itself refuses control characters in a header
    no_metrics = response.status_code == 503 and "/metrics" in case.path
    assert response.status_code < 500 or no_metrics
    if response.status_code >= 400:
        assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    elif "json" in response.headers["content-type"][0]:
        case.validate_response(response, checks=[response_schema_conformance])


def test_the_committed_file_matches_the_code() -> None:
    assert FILE.read_text(encoding="utf-8") == openapi_text()


def test_a_prediction_is_described_with_every_field() -> None:
    described = DESCRIPTION["components"]["schemas"]["Prediction"]
    assert set(described["properties"]) == set(PREDICTION_SCHEMA.names)
    assert "answer" in described["required"]
    assert "trace" not in described["required"]
    assert described["properties"]["confidence"]["type"] == "number"  # left out rather than null
    assert described["properties"]["value"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert described["properties"]["passages"]["description"].startswith("Best first")


def test_every_event_of_a_stream_is_described() -> None:
    described = DESCRIPTION
    media = described["paths"]["/v1/answer"]["post"]["responses"]["200"]["content"]
    assert media["application/json"]["schema"] == {"$ref": "#/components/schemas/AnswerList"}
    kinds = [kind["properties"] for kind in media["text/event-stream"]["itemSchema"]["oneOf"]]
    assert [kind["event"]["const"] for kind in kinds] == list(EVENTS)
    for kind in kinds:
        assert kind["data"]["contentSchema"]["$ref"].rpartition("/")[2] in described["components"]["schemas"]

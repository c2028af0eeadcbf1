"""Where the model that writes plans comes from, and what a server's reply becomes."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import PlanWriterSettings
from finray.models.plan_writer import ServedPlans, WrittenPlan, gguf_of


def test_a_file_and_a_folder_with_one_file_are_found(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF and more")
    assert gguf_of(PlanWriterSettings(model=str(file))) == file
    assert gguf_of(PlanWriterSettings(model=str(tmp_path))) == file


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"PK\x03\x04"])
def test_another_file_is_named_with_the_repair(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelUnavailableError, match=r"model\.gguf is no GGUF file; run finray fetch-models small"):
        gguf_of(PlanWriterSettings(model=str(file)))


def test_a_missing_file_is_named_with_the_repair(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"no model at .*gone\.gguf: No such file"):
        gguf_of(PlanWriterSettings(model=str(tmp_path / "gone.gguf")))


def test_a_model_that_was_not_fetched_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelUnavailableError, match="is not in the cache; run finray fetch-models small"):
        gguf_of(PlanWriterSettings(model="nobody/none-GGUF"))


def _served(handler: httpx.MockTransport) -> ServedPlans:
    return ServedPlans(PlanWriterSettings(), httpx.Client(base_url="http://plans/v1/", transport=handler))


def test_a_server_is_asked_with_the_grammar_and_its_probabilities_are_added_up() -> None:
    seen: list[dict[str, object]] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        choice = {"text": " growth(r1c1, r1c2)", "logprobs": {"token_logprobs": [-0.1, -0.2]}}
        usage = {"prompt_tokens": 200, "completion_tokens": 2}
        return httpx.Response(200, json={"choices": [choice], "usage": usage})

    (plan,) = _served(httpx.MockTransport(reply)).write("Q: …\nPlan:", "root ::= cell")
    assert isinstance(plan, WrittenPlan)
    assert plan.text == "growth(r1c1, r1c2)"
    assert plan.log_probability == pytest.approx(-0.3)
    assert (plan.usage.prompt_tokens, plan.usage.completion_tokens, plan.usage.calls) == (200, 2, 1)
    assert seen[0]["grammar"] == "root ::= cell"
    assert seen[0]["temperature"] == 0.0


@pytest.mark.parametrize(
    "response",
    [httpx.Response(500), httpx.Response(200, json={}), httpx.Response(200, text="<html>"), httpx.Response(404)],
)
def test_a_server_that_fails_is_one_line_without_its_address(response: httpx.Response) -> None:
    with pytest.raises(ModelUnavailableError) as raised:
        _served(httpx.MockTransport(lambda _: response)).write("Plan:", "root ::= cell")
    assert "plan_writer.base_url wrote no plan" in str(raised.value)
    assert "http://plans" not in str(raised.value)

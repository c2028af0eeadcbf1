"""What is stored beside an index was made by one revision of a model, and is not used with another."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from finray.core.settings import load_settings
from finray.retrieval.methods.composed import method_named

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MADE = {
    "splade": ("sparse_encoder", {"model": "naver/splade-v3", "max_tokens": 512}),
    "page_scorer": ("page_encoder", {"model": "owner/name", "max_tokens": 256, "passage_prefix": ""}),
    "dense+title": ("encoder", {"model": "static", "max_tokens": 256, "passage_prefix": "", "title": None}),
    "hirec": (
        "encoder",
        {"model": "static", "llm": "m", "max_tokens": 256, "passage_prefix": "", "cover_characters": None},
    ),
    "lightrag_rules": ("encoder", {"model": "static", "max_tokens": 256, "passage_prefix": ""}),
    "raptor": ("encoder", None),
    "fingear": ("encoder", None),
}
"""The section of the model of each method, and the record of one without a revision, as it has always been."""


def record(method: str, **changed: str) -> Mapping[str, str | int]:
    overrides = {"page_encoder.model": "owner/name", "llm.model": "m"}
    overrides |= {name.replace("__", "."): value for name, value in changed.items()}
    (extension,) = method_named(method).extensions(load_settings(overrides=overrides, environment={}))
    return extension.model


@pytest.mark.parametrize("method", MADE)
def test_only_a_revision_that_is_set_is_recorded(method: str) -> None:
    section, known = MADE[method]
    without = record(method, **{f"{section}__revision": ""})
    assert without == record(method, **{f"{section}__revision": "main"})
    assert {**without, "revision": COMMIT} == record(method, **{f"{section}__revision": COMMIT})
    if known is not None:
        assert without == {name: without[name] if value is None else value for name, value in known.items()}


@pytest.mark.parametrize("method", ["hirec", "lightrag", "raptor"])
def test_so_is_that_of_a_language_model_that_vllm_loads(method: str) -> None:
    vllm = {"llm__backend": "vllm", "methods__raptor__writer": "llm"}
    without = record(method, **vllm)
    assert without["llm"] == "m"
    assert without == record(method, **vllm, llm__revision="main")
    assert {**without, "llm_revision": COMMIT} == record(method, **vllm, llm__revision=COMMIT)
    assert without == record(method, methods__raptor__writer="llm", llm__revision=COMMIT), "a server takes none"

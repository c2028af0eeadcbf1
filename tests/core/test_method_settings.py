"""The numbers of the methods as settings."""

from __future__ import annotations

import pytest

from finray.core.errors import SettingsError
from finray.core.method_settings import MethodParameters
from finray.core.settings import load_settings, preset_names
from finray.retrieval.methods.composed import method_named
from finray.retrieval.methods.registry import METHODS


def answer_hash(**settings: object) -> str:
    return load_settings(overrides={k.replace("__", "."): v for k, v in settings.items()}, environment={}).answer_hash()


def test_every_section_is_that_of_a_method() -> None:
    assert set(MethodParameters.model_fields) < {*METHODS, "rerank"}


def test_presets_name_known_methods() -> None:
    for preset in preset_names():
        method_named(load_settings(preset, environment={}).retrieval.method)


def test_answers_depend_on_the_numbers_of_the_chosen_method_alone() -> None:
    assert answer_hash() == answer_hash(methods__rrf__constant=1)
    assert answer_hash(retrieval__method="rrf") != answer_hash(retrieval__method="rrf", methods__rrf__constant=1)
    assert answer_hash() == answer_hash(sparse_encoder__model="other")
    assert answer_hash(retrieval__method="splade") != answer_hash(
        retrieval__method="splade", sparse_encoder__model="other"
    )
    assert answer_hash(retrieval__method="page_scorer") == answer_hash(
        retrieval__method="page_scorer", page_encoder__batch_size=1
    )
    assert answer_hash(retrieval__method="page_scorer") != answer_hash(
        retrieval__method="page_scorer", page_encoder__model="minilm"
    )


def test_answers_of_a_composition_depend_on_all_its_parts() -> None:
    composed = {"retrieval__method": "rrf+multi_hyde+rerank"}
    present = answer_hash(**composed)
    for name in ("rrf.constant", "multi_hyde.passages", "rerank.candidates"):
        assert present != answer_hash(**composed, **{f"methods.{name}": 7})
    assert present == answer_hash(**composed, methods__hyde__passages=7)
    assert present != answer_hash(retrieval__method="rrf+multi_hyde")


def test_hashes_from_before_a_setting_existed_stay_valid() -> None:
    """Recorded when MiniLM was the default, and before page_characters, store, sampled, generation, least_confidence,
    and what "statements" may add; evidence.max_cells is gone."""
    added = ("tables", "sentences", "figures")
    before = {"encoder__model": "minilm", "loop__transform": "rules", "loop__least_confidence": 0.0}
    before |= {f"loop__{name}": False for name in added}
    assert answer_hash(**before, retrieval__method="page_scorer", page_encoder__model="minilm") == "65eb12171943"
    assert answer_hash(**before, retrieval__method="multi_hyde") == "b8fdf897633a"
    other = answer_hash(retrieval__method="page_scorer", page_encoder__model="minilm", page_encoder__page_characters=9)
    assert other != answer_hash(retrieval__method="page_scorer", page_encoder__model="minilm")


def test_a_number_out_of_range_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"methods\.rrf\.constant"):
        load_settings(overrides={"methods.rrf.constant": 0}, environment={})


def test_the_environment_sets_them_too() -> None:
    assert load_settings(environment={"FINRAY_METHODS__RRF__CONSTANT": "7"}).methods.rrf.constant == 7

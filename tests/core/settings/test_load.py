"""Preset, environment and arguments, each over the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from finray.core.errors import SettingsError
from finray.core.settings import load_settings


def test_each_source_overrides_the_one_before(tmp_path: Path) -> None:
    preset = tmp_path / "mine.toml"
    preset.write_text("[retrieval]\nk_passages = 3\nk_documents = 4\nk_candidates = 5\n", encoding="utf-8")
    environment = {"FINRAY_RETRIEVAL__K_DOCUMENTS": "40", "FINRAY_RETRIEVAL__K_CANDIDATES": "50"}
    settings = load_settings(str(preset), {"retrieval.k_candidates": 500}, environment)
    assert (settings.retrieval.k_passages, settings.retrieval.k_documents) == (3, 40)
    assert settings.retrieval.k_candidates == 500


def test_a_preset_that_is_no_toml_names_its_file(tmp_path: Path) -> None:
    preset = tmp_path / "mine.toml"
    preset.write_text("[retrieval", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"mine\.toml: not valid TOML"):
        load_settings(str(preset), environment={})


@pytest.mark.parametrize("name", ["retrieval.method.name", "loop.i_max", "nothing.there"])
def test_a_wrong_name_or_value_is_named(name: str) -> None:
    with pytest.raises(SettingsError, match="setting '"):
        load_settings(overrides={"retrieval.method": "rrf", name: 99}, environment={})


@pytest.mark.parametrize("section", ["encoder", "page_encoder"])
def test_a_batch_has_a_text_at_least(section: str) -> None:
    with pytest.raises(SettingsError, match=rf"{section}\.batch_size' = 0: .*must be at least 1"):
        load_settings(overrides={f"{section}.batch_size": 0}, environment={})
    chosen = load_settings(overrides={f"{section}.batch_size": 8}, environment={})
    assert getattr(chosen, section).batch_size == 8

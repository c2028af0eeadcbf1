"""Frozen settings objects and their loader.

Settings are loaded once at the edge (command line, job, Serve application) and passed down; no other code reads the
environment. Secrets are not settings: a settings object names the environment variable that holds a key.
"""

from finray.core.settings.edgar import EdgarSettings
from finray.core.settings.filings import ChunkSettings, CollectionSettings, FilingSettings
from finray.core.settings.index import IndexJobSettings, IndexSettings
from finray.core.settings.llm import LlmSettings, VllmSettings
from finray.core.settings.load import load_settings, preset_names
from finray.core.settings.models import (
    EncoderSettings,
    PlanWriterSettings,
    RerankerSettings,
    SparseEncoderSettings,
    is_hub_name,
)
from finray.core.settings.retrieval import EvidenceSettings
from finray.core.settings.sandbox import SandboxSettings
from finray.core.settings.serving import BulkSettings, ServingSettings
from finray.core.settings.whole import Settings

__all__ = [
    "BulkSettings",
    "ChunkSettings",
    "CollectionSettings",
    "EdgarSettings",
    "EncoderSettings",
    "EvidenceSettings",
    "FilingSettings",
    "IndexJobSettings",
    "IndexSettings",
    "LlmSettings",
    "PlanWriterSettings",
    "RerankerSettings",
    "SandboxSettings",
    "ServingSettings",
    "Settings",
    "SparseEncoderSettings",
    "VllmSettings",
    "is_hub_name",
    "load_settings",
    "preset_names",
]

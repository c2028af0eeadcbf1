"""All settings together, and what identifies answers and indexes made with them."""

from __future__ import annotations

import re
from typing import Any

from finray.core.method_settings import MethodParameters, Section
from finray.core.settings.edgar import EdgarSettings
from finray.core.settings.filings import ChunkSettings, CollectionSettings, FilingSettings
from finray.core.settings.hashes import digest, without_defaults
from finray.core.settings.index import IndexJobSettings, IndexSettings
from finray.core.settings.llm import AnswerLlmSettings, LlmSettings
from finray.core.settings.loop import LoopSettings
from finray.core.settings.models import (
    EncoderSettings,
    HubSettings,
    PageEncoderSettings,
    PlanWriterSettings,
    RerankerSettings,
    SparseEncoderSettings,
    is_hub_name,
)
from finray.core.settings.retrieval import EvidenceSettings, RetrievalSettings
from finray.core.settings.sandbox import SandboxSettings
from finray.core.settings.serving import BulkSettings, ServingSettings

_COMMIT = re.compile(r"[0-9a-f]{40}")


class Settings(Section):
    filings: FilingSettings = FilingSettings()
    collection: CollectionSettings = CollectionSettings()
    chunks: ChunkSettings = ChunkSettings()
    encoder: EncoderSettings = EncoderSettings()
    document_reranker: RerankerSettings = RerankerSettings()
    passage_reranker: RerankerSettings = RerankerSettings()
    page_encoder: PageEncoderSettings = PageEncoderSettings()
    sparse_encoder: SparseEncoderSettings = SparseEncoderSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    methods: MethodParameters = MethodParameters()
    loop: LoopSettings = LoopSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    plan_writer: PlanWriterSettings = PlanWriterSettings()
    llm: LlmSettings = LlmSettings()
    answer_llm: AnswerLlmSettings = AnswerLlmSettings()
    hub: HubSettings = HubSettings()
    sandbox: SandboxSettings = SandboxSettings()
    index: IndexSettings = IndexSettings()
    index_job: IndexJobSettings = IndexJobSettings()
    bulk: BulkSettings = BulkSettings()
    edgar: EdgarSettings = EdgarSettings()
    serving: ServingSettings = ServingSettings()

    def answer_hash(self) -> str:
        """12 hex digits over every setting that can change an answer; resume is keyed by it."""
        payload = self.model_dump(
            include={"encoder", "document_reranker", "passage_reranker", "retrieval", "loop", "evidence"},
            exclude={
                "evidence": {"shown_tokens"},
                "loop": self.loop.without_effect,
                "encoder": {"batch_size", "device", "dtype", "backend"},
                "document_reranker": {"batch_size", "device", "dtype"},
                "passage_reranker": {"batch_size", "device", "dtype"},
            },
        )
        evidence = {} if self.evidence == EvidenceSettings() else {"evidence": self.evidence.model_dump()}
        llms = {name: llm.identity() for name, llm in self.llms.items()}
        if self.plan_writer.backend != "none":
            written = {"model", "revision", "file", "adapter", "least_probability"}
            llms |= {"plan_writer": self.plan_writer.model_dump(include=written)}
        return digest(payload | evidence | self._collection() | llms | self._method_identity())[:12]

    @property
    def llms(self) -> dict[str, LlmSettings]:
        """The language models: ``llm``, and ``answer_llm`` if there is one."""
        return {"llm": self.llm} | ({"answer_llm": self.answer_llm} if self.answer_llm.model else {})

    @property
    def generator(self) -> LlmSettings:
        """The language model that writes answers: ``answer_llm`` if there is one, else ``llm``."""
        return self.answer_llm if self.answer_llm.model else self.llm

    def _method_identity(self) -> dict[str, Any]:
        """Settings of the chosen method: those of others change no answer."""
        first, *parts = self.retrieval.method.split("+")
        models = {"page_scorer": self.page_encoder, "splade": self.sparse_encoder}
        unchanging = {"batch_size", "device", "dtype", "backend", "store"}
        model = (
            without_defaults(models[first], unchanging, {"page_characters", "max_terms"}) if first in models else None
        )
        own = {"parameters": self._parameters(first), "method_model": model}
        return own | ({"composed": {part: self._parameters(part) for part in parts}} if parts else {})

    def _parameters(self, method: str) -> dict[str, Any] | None:
        own = getattr(self.methods, method, None)
        return without_defaults(own, set(), {"sampled"}) if own else None

    def index_hash(self) -> str:
        """12 hex digits over every setting that changes the content of an index."""
        payload = {
            "chunks": self.chunks.model_dump(exclude=set() if self.chunks.unit == "tokens" else {"unit"}),
            "encoder": self.encoder.model_dump(include={"model", "revision", "max_tokens", "passage_prefix"}),
        }
        return digest(payload | self._collection())[:12]

    def _collection(self) -> dict[str, Any]:
        """Nothing for filings, so that hashes from before there were other collections stay valid."""
        return {} if self.collection == CollectionSettings() else {"collection": self.collection.model_dump()}

    def hub_models(self) -> dict[str, EncoderSettings | RerankerSettings | LlmSettings]:
        """The sections of the models in use that come from a hub: neither folders nor served by others."""
        used: dict[str, EncoderSettings | RerankerSettings | LlmSettings] = {
            "encoder": self.encoder,
            "document_reranker": self.document_reranker,
            "passage_reranker": self.passage_reranker,
        }
        method = self.retrieval.method.partition("+")[0]
        if method == "page_scorer":
            used["page_encoder"] = self.page_encoder
        if method == "splade":
            used["sparse_encoder"] = self.sparse_encoder
        used |= {name: llm for name, llm in self.llms.items() if llm.backend == "vllm"}
        return {name: section for name, section in used.items() if is_hub_name(section.model)}

    def unpinned(self) -> dict[str, str]:
        """The hub models in use without a commit as revision: ``{"encoder": "owner/name@main"}``."""
        return {
            name: f"{section.model}@{section.revision}" if section.revision else section.model
            for name, section in self.hub_models().items()
            if not _COMMIT.fullmatch(section.revision)
        }

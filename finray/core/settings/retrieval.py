"""Settings of retrieval, and of the evidence that is shown."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from finray.core.method_settings import Section


class RetrievalSettings(Section):
    """Retrieval of filings and passages."""

    method: str = "finray"
    """A name from docs/methods.md."""
    hierarchical: bool = True
    """False is the paper's ablation: passages compete over all filings."""
    oracle: Literal["none", "document", "page"] = "none"
    """Ceilings for evaluation: retrieve only from the gold filings, or only the gold pages, of each question."""
    reranked_pages: int = Field(0, ge=0)
    """Pages of the method ``finray`` whose ranking is fused with that of ``passage_reranker``; 0 reranks none. The
    small rerankers that were measured did not help (docs/training.md)."""
    page_model: str = ""
    """A file that ``finray train page-ranker`` wrote; empty for the one that comes with finray for the encoder."""
    k_candidates: int = Field(100, ge=1)
    """Filings that a reranker scores (HiREC's k'_D)."""
    k_documents: int = Field(5, ge=1)
    """Filings that passages come from (HiREC's k_D)."""
    k_passages: int = Field(10, ge=1)
    """Passages given to the curator (HiREC's k_P)."""


class EvidenceSettings(Section):
    """Evidence as it is shown: whole tables and prose around the passages that were retrieved."""

    max_tokens: int = Field(1_200, ge=200)
    """Rendered evidence of a question, at most, at four characters a token."""
    shown_tokens: int = Field(1_000, ge=100)
    """The same for the evidence that comes with an answer, on the command line, over HTTP and in predictions."""

"""Parameters of the retrieval methods as settings (``methods.rrf.constant``); defaults are the published values."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RrfParameters(Section):
    constant: int = Field(60, ge=1)
    """k of Cormack et al. (2009)."""
    candidates: int = Field(100, ge=1)
    """Candidates from each retriever."""


class QueryExpansionParameters(Section):
    names: int = Field(4, ge=1)
    """Names added for each metric, at most."""


class HydeParameters(Section):
    passages: int = Field(1, ge=1, le=16)
    """Hypothetical passages that the language model writes."""
    with_question: bool = True
    """Whether the question's own vector is averaged in (HyDE, equation 8)."""


class MultiHydeParameters(Section):
    passages: int = Field(4, ge=1, le=16)
    """Hypothetical passages that the language model writes."""
    with_question: bool = False
    """Whether the question's own vector is averaged in (HyDE, equation 8)."""


class ParentChildParameters(Section):
    children: int = Field(100, ge=1)
    """Nearest chunks, which represent their pages."""


class DenseRerankParameters(Section):
    candidates: int = Field(100, ge=1)
    """Chunks that the reranker scores."""


class PageScorerParameters(Section):
    pages: int = Field(20, ge=1)
    """P of arXiv 2602.17981."""


class HhrParameters(Section):
    constant: int = Field(60, ge=1)
    """Constant of reciprocal rank fusion, at both levels."""
    candidates: int = Field(100, ge=1)
    """Candidates from each retriever, at both levels."""
    page_hits: int = Field(1000, ge=1)
    """Pages that the lexical score of documents uses."""


class IrcotParameters(Section):
    """Appendix of the paper: 8 steps, 2 to 8 passages a step, 15 in all."""

    steps: int = Field(8, ge=1, le=20)
    """Reasoning steps, at most."""
    step_passages: int = Field(4, ge=1)
    """Passages found in each step."""
    paragraphs: int = Field(15, ge=1)
    """Passages kept in all."""


class MethodParameters(Section):
    rrf: RrfParameters = RrfParameters()
    query_expansion: QueryExpansionParameters = QueryExpansionParameters()
    hyde: HydeParameters = HydeParameters()
    multi_hyde: MultiHydeParameters = MultiHydeParameters()
    parent_child: ParentChildParameters = ParentChildParameters()
    dense_rerank: DenseRerankParameters = DenseRerankParameters()
    page_scorer: PageScorerParameters = PageScorerParameters()
    hhr: HhrParameters = HhrParameters()
    ircot: IrcotParameters = IrcotParameters()

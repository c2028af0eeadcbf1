"""The numbers of the methods, as settings (``methods.rrf.constant``); defaults are the published values."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RrfParameters(_Section):
    """``constant`` is k of Cormack et al. (2009); each retriever gives ``candidates``."""

    constant: int = Field(60, ge=1)
    candidates: int = Field(100, ge=1)


class QueryExpansionParameters(_Section):
    """``names`` are added for each metric, at most."""

    names: int = Field(4, ge=1)


class HydeParameters(_Section):
    """``passages`` hypothetical ones; ``with_question`` averages the question's own vector in (HyDE, equation 8)."""

    passages: int = Field(1, ge=1, le=16)
    with_question: bool = True


class MultiHydeParameters(_Section):
    passages: int = Field(4, ge=1, le=16)
    with_question: bool = False


class ParentChildParameters(_Section):
    """``children`` nearest ones stand for their parents."""

    children: int = Field(100, ge=1)


class DenseRerankParameters(_Section):
    candidates: int = Field(100, ge=1)


class PageScorerParameters(_Section):
    """``pages`` is P of arXiv 2602.17981."""

    pages: int = Field(20, ge=1)


class HhrParameters(_Section):
    """``candidates`` of each retriever at both levels, joined with ``constant``; ``page_hits`` is how many pages
    the lexical score of documents looks at."""

    constant: int = Field(60, ge=1)
    candidates: int = Field(100, ge=1)
    page_hits: int = Field(1000, ge=1)


class IrcotParameters(_Section):
    """``steps`` of reasoning at most, ``step_passages`` found in each, ``paragraphs`` kept in all (appendix of the
    paper: 8 steps, 2 to 8 a step, 15 in all)."""

    steps: int = Field(8, ge=1, le=20)
    step_passages: int = Field(4, ge=1)
    paragraphs: int = Field(15, ge=1)


class MethodParameters(_Section):
    rrf: RrfParameters = RrfParameters()
    query_expansion: QueryExpansionParameters = QueryExpansionParameters()
    hyde: HydeParameters = HydeParameters()
    multi_hyde: MultiHydeParameters = MultiHydeParameters()
    parent_child: ParentChildParameters = ParentChildParameters()
    dense_rerank: DenseRerankParameters = DenseRerankParameters()
    page_scorer: PageScorerParameters = PageScorerParameters()
    hhr: HhrParameters = HhrParameters()
    ircot: IrcotParameters = IrcotParameters()

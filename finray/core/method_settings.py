"""Parameters of the retrieval methods as settings (``methods.rrf.constant``); defaults are the published values."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RrfParameters(Section):
    constant: int = Field(60, ge=1)
    """k of Cormack et al. (2009)."""
    candidates: int = Field(100, ge=1)
    """Candidates from each retriever."""


class QueryExpansionParameters(Section):
    vocabulary: Literal["statements", "acronyms"] = "statements"
    """Words that are added: "statements" are other names of metrics and of the line items in their formulas, and
    periods and forms written out; "acronyms" are common acronyms of finance written out, and fiscal years, as in arXiv
    2602.17981."""
    names: int = Field(4, ge=1)
    """Names of "statements" added for each metric, at most."""


class HydeParameters(Section):
    passages: int = Field(1, ge=1, le=16)
    """Hypothetical passages that the language model writes."""
    with_question: bool = True
    """Whether the question's own vector is averaged in (HyDE, equation 8)."""
    sampled: bool = False
    """Whether each passage is a request of its own, with the prompt, temperature (0.7) and length (200 tokens) of arXiv
    2602.17981; false: one request for all of them."""


class MultiHydeParameters(HydeParameters):
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


class RerankParameters(Section):
    """``+rerank`` after any flat method."""

    candidates: int = Field(20, ge=1)
    """First passages that ``passage_reranker`` orders (N of arXiv 2602.17981)."""


class PageScorerParameters(Section):
    pages: int = Field(20, ge=1)
    """P of arXiv 2602.17981."""


class HhrParameters(RrfParameters):
    constant: int = Field(60, ge=1)
    """Constant of reciprocal rank fusion, at both levels."""
    candidates: int = Field(100, ge=1)
    """Candidates from each retriever, at both levels."""
    page_hits: int = Field(1000, ge=1)
    """Pages that the lexical score of documents uses."""


class HirecParameters(Section):
    summaries: Literal["llm", "facts"] = "llm"
    """Cover summaries that documents are found by: a language model's, from `finray extend --with hirec`, or the
    index's own sentences of cover facts."""
    cover_characters: int = Field(8_000, ge=100)
    """Characters of the cover page that the language model reads, at most."""
    flat_candidates: int = Field(50, ge=1)
    """Chunks that the passage reranker scores without the document stage."""


class IrcotParameters(Section):
    """Appendix of the paper: 8 steps, 2 to 8 passages a step, 15 in all."""

    steps: int = Field(8, ge=1, le=20)
    """Reasoning steps, at most."""
    step_passages: int = Field(4, ge=1)
    """Passages found in each step."""
    paragraphs: int = Field(15, ge=1)
    """Passages kept in all."""


class HybridSearchParameters(Section):
    weight: float = Field(0.7, ge=0, le=1)
    """Weight of the dense score; BM25 has the rest."""
    candidates: int = Field(50, ge=1)
    """Candidates from each retriever."""
    rerank: bool = False
    """Whether ``passage_reranker`` orders the candidates of both."""


class SelfRagParameters(Section):
    """Section 4.3 of the paper, and its code for long answers."""

    mode: Literal["always_retrieve", "adaptive_retrieval"] = "always_retrieve"
    """Whether the model first decides if it needs passages at all."""
    segments: int = Field(7, ge=1, le=20)
    """Sentences of an answer, at most."""
    beam: int = Field(2, ge=1, le=8)
    """Unfinished answers that go on."""
    relevance_weight: float = Field(1.0, ge=0)
    """Weight of IsRel."""
    support_weight: float = Field(1.0, ge=0)
    """Weight of IsSup."""
    utility_weight: float = Field(0.5, ge=0)
    """Weight of IsUse."""
    drop_unsupported: bool = False
    """Whether sentences with [No support / Contradictory] are left out of the answer."""
    grade: bool = False
    """Whether only passages that the model grades relevant are kept, with one request for each (``grade_documents`` of
    LangGraph's Self-RAG, as FinGEAR runs it)."""


class RqRagParameters(Section):
    """As HiREC runs it (appendix C.2)."""

    depth: int = Field(2, ge=1, le=4)
    """Refinements of a path, at most."""
    step_passages: int = Field(3, ge=1)
    """Passages found for each query."""


class LongContextParameters(Section):
    filings: int = Field(1, ge=1)
    """Filings that the document stage chooses."""
    context_tokens: int = Field(128_000, ge=1_000)
    """Context of the model, with the reply (``llm.max_tokens``), at three characters a token."""


class LightragParameters(Section):
    mode: Literal["local", "global", "hybrid", "mix"] = "hybrid"
    """Entities of the low-level keywords, relations of the high-level ones, or both; "mix" adds the pages nearest to
    the question."""
    top_k: int = Field(60, ge=1)
    """Entities, and as many relations, that are found."""


class TreeParameters(Section):
    """Trees over the text of a filing; building them again (``finray extend --rebuild``) applies a change."""

    leaves: Literal["pages", "chunks"] = "chunks"
    """The leaves: whole pages or chunks of the index."""
    writer: Literal["rules", "llm"] = "rules"
    """Who writes the nodes: "rules" takes central sentences, headings and line items, "llm" asks the language model."""
    reduction: Literal["umap", "spectral"] = "umap"
    """Reduces the vectors before clustering: UMAP (extra ``trees``), or scikit-learn's Laplacian eigenmaps, with which
    UMAP begins."""
    dimension: int = Field(10, ge=2, le=100)
    """Dimensions that it leaves. Up to one more node than this is not clustered."""
    max_clusters: int = Field(50, ge=1)
    """Components of a Gaussian mixture, at most; BIC chooses their number."""
    threshold: float = Field(0.1, gt=0, lt=1)
    """A node joins every cluster to which it belongs with a greater probability."""
    convergence: float = Field(1e-3, gt=0)
    """Gain of the log likelihood at which the fit of a mixture ends."""
    summary_tokens: int = Field(100, ge=10)
    """Length of a summary, at four characters a token."""
    prompt_tokens: int = Field(24_000, ge=500)
    """Text that the language model summarizes at once, at most; the rest of a longer cluster is left out."""


class RaptorParameters(TreeParameters):
    layers: int = Field(5, ge=1)
    """Layers of summaries above the chunks, at most."""
    cluster_tokens: int = Field(3_500, ge=100)
    """A cluster with more text is clustered again."""


class FingearParameters(TreeParameters):
    """Section 5.1 and appendices D to G of the paper."""

    leaves: Literal["pages", "chunks"] = "pages"
    """The leaves: whole pages (the paper's "page nodes" of some 2,000 tokens) or chunks of the index."""
    convergence: float = Field(0.1, gt=0)
    """Gain of the log likelihood at which the fit of a mixture ends (appendix E)."""
    summary_tokens: int = Field(650, ge=10)
    """Length of a summary, at four characters a token (table 6)."""
    depth: int = Field(2, ge=1, le=6)
    """Steps from the root of an Item's tree to a leaf, at most."""
    questions: int = Field(5, ge=1, le=50)
    """Questions of a node of the Question Tree (figure 4)."""
    beam: int = Field(3, ge=1)
    """Children of a node that traversal follows, leaves included (b)."""
    flam: bool = True
    """False is the paper's ablation: all Items compete for the whole budget."""
    weighting: Literal["relative", "logarithmic", "exponential", "softmax"] = "relative"
    """How counts of terms become their weights, and these those of Items (table 4, section 5.1)."""
    lexicon: str = ""
    """A file of financial terms, one a line, such as FinRAD's; empty for the list that comes with finray."""
    summary_tree: bool = True
    """False is the paper's ablation."""
    question_tree: bool = True
    """False is the paper's ablation."""
    rerank: bool = True
    """False is the paper's ablation: fused ranks of the two trees instead of ``passage_reranker``."""


class MethodParameters(Section):
    rrf: RrfParameters = RrfParameters()
    query_expansion: QueryExpansionParameters = QueryExpansionParameters()
    hyde: HydeParameters = HydeParameters()
    multi_hyde: MultiHydeParameters = MultiHydeParameters()
    parent_child: ParentChildParameters = ParentChildParameters()
    dense_rerank: DenseRerankParameters = DenseRerankParameters()
    rerank: RerankParameters = RerankParameters()
    page_scorer: PageScorerParameters = PageScorerParameters()
    hhr: HhrParameters = HhrParameters()
    hirec: HirecParameters = HirecParameters()
    ircot: IrcotParameters = IrcotParameters()
    hybrid_search: HybridSearchParameters = HybridSearchParameters()
    self_rag_prompted: SelfRagParameters = SelfRagParameters()
    rq_rag_prompted: RqRagParameters = RqRagParameters()
    long_context: LongContextParameters = LongContextParameters()
    lightrag: LightragParameters = LightragParameters()
    lightrag_rules: LightragParameters = LightragParameters()
    fingear: FingearParameters = FingearParameters()
    raptor: RaptorParameters = RaptorParameters()

"""Settings of the loop and its roles."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from finray.core.method_settings import Section


class LoopSettings(Section):
    """Algorithm 1 of HiREC: its roles, and its number of rounds."""

    transform: Literal["rules", "trained", "model", "hirec", "none"] = "rules"
    """The question reader. "trained" adds to the rules what two small models find to be measured (they need MiniLM).
    "model" asks the language model once what the question names, "hirec" for a query as HiREC does; "none" is the
    paper's ablation."""
    curator: Literal["rules", "model", "hirec"] = "rules"
    """The role that keeps the evidence and asks for what is missing. "model" is a language model with finray's prompts
    and with rules if its reply cannot be used, "hirec" one with HiREC's prompts and without rules."""
    answerer: Literal["statements", "model", "hirec", "plain", "method", "none"] = "statements"
    """The answering role, "model" and "hirec" as for ``curator``; "plain" is one prompt with passages and question
    (arXiv 2602.17981, appendix A); "method" is the answer that the retrieval method itself writes, if it does, without
    curation; "none" only retrieves, for evaluation."""
    generation: Literal["auto", "program", "chain"] = "auto"
    """What the answerer "hirec" asks for: a program of thought, a chain of thought, or by the question: a program if it
    asks for a figure."""
    one_call: bool = False
    """Whether ``curator`` and ``answerer``, if both are "model", are one request: the model answers if the evidence
    suffices, else asks for more."""
    i_max: int = Field(3, ge=1, le=10)
    """Rounds of curation, at most."""
    max_kept: int = Field(10, ge=1)
    """Passages that a curation keeps, at most (HiREC's k'_P)."""
    curate: bool = True
    """False is the paper's ablation: answer from the first retrieval."""
    filter: bool = True
    """False is the paper's ablation: judge whether the passages suffice, but keep them all."""
    least_confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    """A figure computed from cells is refused below this confidence; the refusal shows the cells as nearest data."""
    tables: bool = False
    """Whether a trained model reads rows of the retrieved pages' tables beside the question for the answerer
    "statements": it may compute a figure if no plan gives one, and has an opinion on the figure of a plan (``finray
    train row-reader``, ``table-reader``, ``confidence``)."""
    sentences: bool = False
    """Whether a trained model reads the likeliest sentences, and their figures, beside the question for the answerer
    "statements" (``finray train row-reader``)."""
    figures: bool = False
    """Whether the answerer "statements", if neither a plan nor a table gives a figure, may choose one that a sentence
    of the retrieved pages states (``finray train figure-choice``). The shipped choice expects ``sentences``."""
    confidence_model: str = ""
    """A file that ``finray train confidence`` wrote, for the ``statements`` answerer or any other; empty for the one
    that comes with finray, which was trained on the ``statements`` answerer and applies to no other."""

    @property
    def without_effect(self) -> set[str]:
        """Settings that change no answer. Hashes omit them, so that hashes from before they existed stay valid."""
        switches = ("tables", "sentences", "figures")
        unused = {name for name in switches if self.answerer != "statements" or not getattr(self, name)}
        if self.answerer != "hirec":
            unused.add("generation")
        if not self.least_confidence:
            unused.add("least_confidence")
        return unused

    @property
    def curates(self) -> bool:
        return self.curate and self.answerer != "method"

    @property
    def asks_llm(self) -> bool:
        roles = {self.transform, self.answerer, self.curator if self.curates else ""}
        return bool(roles & {"hirec", "model", "plain", "method"})

    @property
    def judged(self) -> bool:
        """Whether a model decides which company the evidence is about, so that no rule refuses a name."""
        return bool({"model", "method"} & {self.answerer, self.curator if self.curates else ""})

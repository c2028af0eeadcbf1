"""Describes a retrieval method: what it is, what it needs, and how it is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from finray.core.settings import Settings
from finray.index.extensions.extension import AnyExtension, Extension
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import QueryWriter

Need = Literal["chat model", "generator", "document reranker", "passage reranker", "sparse encoder"]


@dataclass(frozen=True, slots=True)
class Method:
    """``description`` is one line, ``source`` the publication."""

    name: str
    description: str
    source: str
    build: Callable[[Toolbox], Retrieval]
    needs: tuple[Need, ...] = ()
    """"chat model" is ``llm``; "generator" is ``answer_llm`` if there is one, else ``llm``."""
    extension: Callable[[Settings], AnyExtension] | None = None
    """The vectors, words or trees that must be stored beside the index."""
    flat: bool = True
    """Whether there is no document stage."""
    answers: Literal["no", "also", "only"] = "no"
    """Whether the method can write the answer (``loop.answerer=method``), or does nothing else."""
    titles: Callable[[Settings], tuple[Extension, ...]] | None = None
    """The extensions that ``+title`` needs; None if the method does not take it."""
    writer: Callable[[Toolbox], QueryWriter] | None = None
    """Writes queries for this method, and after ``+`` for others."""
    searches: bool = False
    """Whether a query writer may follow the method after ``+``."""

    def extensions(self, settings: Settings) -> tuple[AnyExtension, ...]:
        """The extensions that the method needs with these settings."""
        parts = self.name.split("+")
        if "title" in parts and self.titles is not None:
            return self.titles(settings)
        return (self.extension(settings),) if self.extension is not None else ()

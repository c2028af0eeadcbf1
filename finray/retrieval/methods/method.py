"""What a retrieval method is: its needs, and how it is built."""

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
    """``description`` is one line, ``source`` the publication. ``extension`` describes the stored vectors or trees that
    the method needs besides the index; of the language models, "chat model" is ``llm`` and "generator" ``answer_llm``
    if there is one. ``flat`` methods have no document stage. ``titles`` are the extensions of
    ``+title``, None if the method does not take it. ``writer`` writes queries, for itself and for first stages;
    ``searches`` is whether the method is a first stage for writers."""

    name: str
    description: str
    source: str
    build: Callable[[Toolbox], Retrieval]
    needs: tuple[Need, ...] = ()
    extension: Callable[[Settings], AnyExtension] | None = None
    flat: bool = True
    answers: Literal["no", "also", "only"] = "no"
    """Whether the method can write the answer (``loop.answerer=method``), or does nothing else."""
    titles: Callable[[Settings], tuple[Extension, ...]] | None = None
    writer: Callable[[Toolbox], QueryWriter] | None = None
    searches: bool = False

    def extensions(self, settings: Settings) -> tuple[AnyExtension, ...]:
        """The stored vectors, words or trees that the method needs with these settings."""
        parts = self.name.split("+")
        if "title" in parts and self.titles is not None:
            return self.titles(settings)
        return (self.extension(settings),) if self.extension is not None else ()

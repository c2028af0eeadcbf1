"""``multi_hyde``: the mean vector of four different imagined passages.

Srinivasan et al., "Enhancing Financial RAG with Agentic AI and Multi-HyDE" (arXiv 2509.16369), imagine answers to
several different questions. As in arXiv 2602.17981, this method takes the mean vector of four passages.
"""

from __future__ import annotations

from finray.retrieval.flat import AllDocuments
from finray.retrieval.methods.hyde import HypotheticalPassages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


def build(tools: Toolbox) -> Retrieval:
    chosen = tools.settings.methods.multi_hyde
    passages = HypotheticalPassages(
        tools.reader, tools.encoder, tools.chat_model(), "multi_hyde", chosen.passages,
        with_question=chosen.with_question,
    )  # fmt: skip
    return Retrieval(AllDocuments(tools.reader), passages)

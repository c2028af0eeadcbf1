"""``multi_hyde``: the mean vector of four different imagined passages.

Srinivasan et al., "Enhancing Financial RAG with Agentic AI and Multi-HyDE" (arXiv 2509.16369), imagine answers to
several different questions. As in arXiv 2602.17981, this method takes the mean vector of four passages.
"""

from __future__ import annotations

from finray.retrieval.methods.dense import dense_passages
from finray.retrieval.methods.hyde import imagining
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import QueryWriter, WrittenPassages


def writer(tools: Toolbox) -> QueryWriter:
    return imagining(tools, "multi_hyde", tools.settings.methods.multi_hyde)


def build(tools: Toolbox) -> Retrieval:
    return tools.flat(WrittenPassages(dense_passages(tools), writer(tools)))

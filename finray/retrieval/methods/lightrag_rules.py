"""``lightrag_rules``: `lightrag` without a language model.

Entities are the company, the line items of its tables and the names in its prose; relations join the company with each
of them, and names that share a sentence. Keywords are the companies, metrics and periods of the question (low) and the
question itself (high). Only its own answer asks a language model.
"""

from __future__ import annotations

from finray.core.settings import Settings
from finray.index.extensions.extension import FilingExtension
from finray.retrieval.methods.lightrag import build_with, graph_extension
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


def extension(settings: Settings) -> FilingExtension:
    return graph_extension("lightrag_rules", settings)


def build(tools: Toolbox) -> Retrieval:
    return build_with(tools, "lightrag_rules", keywords=False)

"""Open-domain question answering over SEC filings, in bulk and with evidence.

    import finray

    finray.index_filings(["filings"], "my-index")
    with finray.open_index("my-index") as index:
        prediction = index.ask("What was Acme's revenue in fiscal 2023?")
    finray.answer_many("questions.jsonl", "my-index", "predictions.jsonl")

The names below are the public API. They are imported on first use, so ``import finray`` alone stays cheap.
``finray.client`` is the client of the HTTP service.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from finray.library import (
        AnswerSummary,
        Document,
        Fact,
        FilingFilter,
        FinrayError,
        GoldEvidence,
        Index,
        IndexSummary,
        Panel,
        Passage,
        Prediction,
        Question,
        Retrieval,
        Settings,
        answer_many,
        answer_panel,
        facts_table,
        index_filings,
        load_settings,
        open_index,
        read_facts,
        read_predictions,
        read_questions,
        save_facts,
        write_questions,
    )

__all__ = [
    "AnswerSummary",
    "Document",
    "Fact",
    "FilingFilter",
    "FinrayError",
    "GoldEvidence",
    "Index",
    "IndexSummary",
    "Panel",
    "Passage",
    "Prediction",
    "Question",
    "Retrieval",
    "Settings",
    "answer_many",
    "answer_panel",
    "facts_table",
    "index_filings",
    "load_settings",
    "open_index",
    "read_facts",
    "read_predictions",
    "read_questions",
    "save_facts",
    "write_questions",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'finray' has no attribute {name!r}")
    from finray import library

    globals()[name] = found = getattr(library, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

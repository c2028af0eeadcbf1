"""Figures that FinGEAR's paper (arXiv 2509.12042) reports, with the settings that compute each row here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

FULL: Final = (0.79, 0.76, 0.72, 0.61, 0.62, 0.65, 0.69, 0.68, 0.68, 0.50, 0.64, 0.62)
"""Precision at k = 5, 10 and 15, then recall, F1 and relevancy."""
Variants = Sequence[tuple[str, Mapping[str, Any], Sequence[float]]]
"""Label, parameters of ``fingear``, and published figures."""


@dataclass(frozen=True, slots=True)
class System:
    """A row of tables 1 and 3: ``quality`` as in table 1, ``accuracy`` as in table 3. ``own`` are settings by dotted
    name; without a ``method`` the row is a gap."""

    label: str
    method: str
    quality: Sequence[float]
    accuracy: Sequence[float]
    own: Mapping[str, Any] = field(default_factory=dict)


SYSTEMS: Final = (
    System(
        "General RAG",
        "rrf",
        (0.37, 0.37, 0.30, 0.24, 0.26, 0.28, 0.29, 0.30, 0.29, 0.40, 0.43, 0.47),
        (0.298, 0.303, 0.305),
    ),
    System(
        "Self-RAG",
        "self_rag_prompted",
        (0.74, 0.60, 0.55, 0.27, 0.28, 0.31, 0.39, 0.38, 0.40, 0.30, 0.31, 0.33),
        (0.287, 0.298, 0.274),
        {"methods.self_rag_prompted.grade": True},
    ),
    System(
        "LightRAG",
        "lightrag",
        (0.88, 0.85, 0.85, 0.39, 0.42, 0.47, 0.54, 0.56, 0.60, 0.38, 0.37, 0.39),
        (0.357, 0.588, 0.365),
        {"methods.lightrag.mode": "mix"},
    ),
    System(
        "GraphRAG",
        "",
        (0.88, 0.89, 0.87, 0.56, 0.55, 0.55, 0.67, 0.66, 0.66, 0.17, 0.16, 0.17),
        (0.284, 0.291, 0.294),
    ),
    System(
        "RAPTOR",
        "raptor",
        (0.69, 0.65, 0.62, 0.11, 0.14, 0.22, 0.19, 0.23, 0.32, 0.38, 0.41, 0.45),
        (0.340, 0.209, 0.373),
    ),
    System("FinGEAR", "fingear", FULL, (0.491, 0.497, 0.500)),
)
ABLATIONS: Final[Variants] = (
    ("Full FinGEAR", {}, FULL),
    (
        "No Summary Tree",
        {"summary_tree": False},
        (0.41, 0.61, 0.58, 0.33, 0.36, 0.40, 0.37, 0.46, 0.47, 0.29, 0.57, 0.63),
    ),
    (
        "No Question Tree",
        {"question_tree": False},
        (0.43, 0.62, 0.57, 0.35, 0.37, 0.40, 0.39, 0.47, 0.47, 0.29, 0.56, 0.63),
    ),
    ("No FLAM Module", {"flam": False}, (0.42, 0.61, 0.58, 0.34, 0.35, 0.42, 0.38, 0.44, 0.49, 0.29, 0.58, 0.63)),
    ("No Reranker", {"rerank": False}, (0.51, 0.44, 0.36, 0.37, 0.30, 0.31, 0.43, 0.36, 0.34, 0.45, 0.55, 0.58)),
)
PAIRS: Final[Variants] = (
    ("Full FinGEAR", {}, FULL),
    (
        "No FLAM + No Summary Tree",
        {"flam": False, "summary_tree": False},
        (0.48, 0.59, 0.51, 0.40, 0.30, 0.33, 0.44, 0.40, 0.40, 0.25, 0.34, 0.34),
    ),
    (
        "No FLAM + No Question Tree",
        {"flam": False, "question_tree": False},
        (0.48, 0.58, 0.52, 0.40, 0.31, 0.36, 0.44, 0.40, 0.43, 0.26, 0.34, 0.34),
    ),
)
WEIGHTINGS: Final = (
    ("Relative Frequency", "relative", FULL),
    (
        "Logarithmic Weighting",
        "logarithmic",
        (0.70, 0.66, 0.63, 0.47, 0.45, 0.45, 0.56, 0.53, 0.52, 0.50, 0.60, 0.60),
    ),
    ("Softmax Weighting", "softmax", (0.70, 0.68, 0.66, 0.47, 0.44, 0.44, 0.56, 0.53, 0.53, 0.48, 0.59, 0.63)),
    ("Exponential Scaling", "exponential", ()),  # named in section 5.1, without figures
)
TYPES: Final = {
    "Numerical": (0.79, 0.76, 0.71, 0.61, 0.62, 0.64, 0.69, 0.68, 0.68, 0.50, 0.64, 0.63),
    "Categorical": (0.83, 0.92, 0.87, 0.71, 0.72, 0.82, 0.77, 0.81, 0.86, 0.46, 0.48, 0.49),
    "Simple": (0.79, 0.76, 0.73, 0.62, 0.64, 0.67, 0.70, 0.70, 0.70, 0.51, 0.62, 0.58),
    "Complex": (0.78, 0.76, 0.72, 0.59, 0.59, 0.61, 0.67, 0.67, 0.66, 0.48, 0.65, 0.67),
}
STATISTICS: Final = {
    "Tree depth (max)": (2, 3.14, 4),
    "Tree depth (mean)": (1.22, 1.43, 1.80),
    "Total node count": (27, 254.86, 1322),
    "Internal node count": (0, 17.84, 85),
    "Leaf node count": (27, 237.02, 1237),
    "Page count": (84, 168.89, 555),
    "Document count": (184, 1342.77, 7078),
    "Tokens per document": (291.98, 331.03, 382.23),
    "Tokens per summary node": (634.72, 657.78, 687.46),
    "Tokens per query": (16.16, 17.27, 18.60),
    "Tokens per page node": (598.71, 2129.56, 7021.38),
    "Seconds of trees, one processor": (243.2, 408.2, 602.6),
}
"""Table 6 and, in the last row, appendix K: minimum, mean and maximum."""
LATENCY: Final = {5: (12.05, 0.48), 10: (18.28, 0.76), 15: (22.42, 1.00)}
"""Table 9's seconds to retrieve and, from appendix B, dollars to answer 1,000 questions, by k."""
MEAN_LATENCY: Final = 17.58
TREES: Final = (408.2, 110.0)
"""Appendices K and B: seconds to build a filing's trees, and dollars for 1,000 filings of 127 pages."""

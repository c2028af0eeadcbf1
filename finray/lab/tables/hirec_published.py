"""Figures that HiREC's paper reports (arXiv 2505.20368), in percent; None if it reports none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

Figures = Sequence[float | None]

MAIN: Final[Mapping[str, Figures]] = {
    "Zero-shot": (None, 3.82, None, 2.93, None, 35.00, None, 13.92, None),
    "Perplexity": (None, 2.51, None, 5.13, None, 24.00, None, 10.55, None),
    "Self-RAG": (19.96, 1.86, 24.18, 4.03, 12.75, 17.00, 18.96, 7.63, 10.0),
    "RQ-RAG": (18.61, 1.97, 19.05, 2.56, 17.96, 20.50, 18.54, 8.34, 36.0),
    "IRCoT": (28.17, 19.10, 34.62, 27.84, 12.67, 20.00, 25.15, 22.31, 20.0),
    "HybridSearch": (26.75, 19.10, 32.05, 30.77, 14.37, 27.00, 24.39, 25.62, 10.0),
    "HHR": (37.67, 26.53, 40.29, 32.97, 21.98, 26.50, 33.31, 28.67, 10.0),
    "Dense": (37.69, 23.69, 40.48, 32.97, 26.18, 31.00, 34.78, 29.22, 10.0),
    "HiREC": (50.17, 37.23, 53.48, 48.35, 32.39, 41.50, 45.35, 42.36, 3.7),
    "Gold evidence": (100, 64.96, 100, 69.23, 100, 63.50, 100, 65.90, 1.3),
}
"""Table 2: page recall and answer accuracy of numeric (table), numeric (text), textual and their mean; k."""

ABLATIONS: Final[Mapping[str, Figures]] = {
    "HiREC": (21.79, 45.35, 42.36),
    "w/o HR": (14.75, 34.16, 32.76),
    "w/o EC": (4.70, 41.41, 36.70),
    "w/o Fine-tuning": (21.07, 42.77, 40.13),
    "w/o Filter": (8.43, 50.19, 42.08),
}
"""Table 3: page precision, page recall, answer accuracy, each the mean of the three parts."""

COST: Final[Mapping[str, Figures]] = {
    "Dense": (None, None, None, None, 2666, 177, 9.3, 2.5),
    "IRCoT": (9610, 1372, 33.4, 19.1, 3475, 177, 12.1, 2.5),
    "HiREC": (4291, 313, 14.9, 4.4, 1052, 159, 3.7, 2.2),
}
"""Table 4: tokens read and written for each question, and dollars for all, of retrieval and of generation."""
COST_QUESTIONS: Final = 1389

GENERATORS: Final[Mapping[tuple[str, str], Figures]] = {
    ("Dense", "Qwen-2.5-7B"): (19.76, 22.34, 29.52, 23.87),
    ("Dense", "Deepseek-14B"): (25.44, 31.87, 35.00, 30.77),
    ("Dense", "GPT-4o"): (23.69, 26.18, 31.00, 29.22),
    ("HiREC", "Qwen-2.5-7B"): (27.62, 33.33, 36.00, 32.32),
    ("HiREC", "Deepseek-14B"): (34.39, 41.39, 40.53, 38.76),
    ("HiREC", "GPT-4o"): (37.23, 48.35, 41.50, 42.36),
}
"""Table 5. Its 26.18 for Dense with GPT-4o is the textual page recall of table 2; the mean fits 32.97."""

GENERATOR_NAMES: Final = {
    "Qwen-2.5-7B": "qwen2.5-7b",
    "Deepseek-14B": "deepseek-r1-distill-qwen-14b",
    "GPT-4o": "gpt-4o",
}
"""How model names on hubs and servers begin, in lower case."""

BY_SOURCE: Final[Mapping[str, Figures]] = {
    "Self-RAG": (9.00, 13.33, 22.93, 3.24, 4.59, 4.72),
    "RQ-RAG": (13.67, 18.67, 20.32, 2.88, 9.38, 4.72),
    "IRCoT": (9.33, 20.00, 32.24, 22.66, 4.20, 7.09),
    "HybridSearch": (10.00, 29.33, 29.95, 23.29, 10.42, 7.87),
    "HHR": (16.44, 34.00, 41.50, 29.50, 10.13, 5.51),
    "Dense": (26.11, 33.33, 40.38, 27.61, 15.70, 9.45),
    "HiREC": (40.00, 50.00, 52.49, 41.61, 19.97, 14.17),
}
"""Table 6: page recall and answer accuracy of FinanceBench, FinQA and SEC-QA."""

DISTRIBUTION: Final = {"finqa": (1112, 69.72), "secqa": (333, 20.88), "financebench": (150, 9.40)}
"""Table 9: questions of LOFin-1.6k by source, and their share."""

EXPANDED_BY_PART: Final[Mapping[str, Figures]] = {
    "Dense": (3.47, 33.88, 22.92, 3.77, 37.73, 31.50, 2.90, 16.18, 23.93, 3.38, 29.27, 26.12),
    "HiREC": (25.63, 48.76, 35.57, 21.64, 52.75, 44.32, 13.54, 23.59, 26.95, 20.27, 41.70, 35.61),
}
"""Table 10: page precision, page recall, accuracy of the parts in the order of table 2, and their means."""

EXPANDED_BY_SOURCE: Final[Mapping[str, Figures]] = {
    "Dense": (1.80, 16.00, 36.00, 4.00, 37.28, 26.44, 2.88, 12.66, 13.51, 2.81, 21.98, 25.00),
    "HiREC": (15.67, 37.33, 47.33, 25.44, 51.18, 39.44, 12.74, 18.67, 14.85, 17.95, 35.73, 33.63),
}
"""Table 11. The means of its accuracies are 25.32 and 33.87; the paper prints 25.00 and 33.63."""

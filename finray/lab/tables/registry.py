"""Lists the systems whose tables ``finray tables`` computes; each has a module of its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from finray.core.errors import UsageError
from finray.lab.tables import fair, fingear, hirec, page_scorer
from finray.lab.tables.paper_table import PaperTable
from finray.lab.tables.request import Progress, Request


@dataclass(frozen=True, slots=True)
class System:
    """``numbers`` are its tables, ``preset`` is the default of ``--preset``. A model that is missing leaves gaps in the
    tables and raises no error."""

    name: str
    source: str
    numbers: tuple[str, ...]
    tables: Callable[[Request, Progress], Sequence[PaperTable]]
    preset: str = "local"


_ALL: Final = (
    System("hirec", "Choe et al. 2025, arXiv 2505.20368", hirec.NUMBERS, hirec.tables, "hirec"),
    System(
        "page-scorer",
        "Kobeissi and Langlais 2026, arXiv 2602.17981",
        page_scorer.NUMBERS,
        page_scorer.tables,
        "page-scorer",
    ),
    System("fair", "all methods of this project", fair.NUMBERS, fair.tables),
    System("fingear", "Li et al. 2025, arXiv 2509.12042", fingear.NUMBERS, fingear.tables),
)
SYSTEMS: Final = {system.name: system for system in _ALL}


def system_named(name: str) -> System:
    """Raises UsageError for an unknown name."""
    if name not in SYSTEMS:
        raise UsageError(f"no tables for {name!r}; choose from {', '.join(SYSTEMS)}")
    return SYSTEMS[name]


def paper_tables(name: str, request: Request, progress: Progress) -> Sequence[PaperTable]:
    """The tables of the system ``name`` that ``request.only`` selects. Raises UsageError for an unknown one."""
    system = system_named(name)
    unknown = [number for number in request.only if number not in system.numbers]
    if unknown:
        raise UsageError(f"{name} has no table {unknown[0]!r}; it has {', '.join(system.numbers)}")
    return [table for table in system.tables(request, progress) if request.wants(table.number)]

"""A copy of an index with fewer vectors: what they are worth to a method is measured on it.

    python benchmarks/fewer_vectors.py INDEX COPY --keep pages
    finray maintain --index COPY
    finray train page-ranker --questions QUESTIONS.jsonl --index COPY --out page_model.json

--keep pages gives every chunk the vector of its page, as if only pages had been encoded; --keep none makes all vectors
zero, those of covers too. `train page-ranker` fits the page weights to what is left, and prints the recall of companies
left out. The copy has no search indexes until `maintain` builds them.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

from finray.index import schema
from finray.models.encoder import Vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("copy", type=Path)
    parser.add_argument("--keep", choices=("pages", "none"), required=True)
    arguments = parser.parse_args()
    shutil.copytree(arguments.index, arguments.copy)
    if arguments.keep == "pages":
        pages, chunks = _table(arguments.copy, schema.PAGES), _table(arguments.copy, schema.CHUNKS)
        vectors = dict(zip(_places(pages), schema.vectors_matrix(pages["vector"]), strict=True))
        _replace(arguments.copy, schema.CHUNKS, chunks, np.stack([vectors[place] for place in _places(chunks)]))
        return
    for name in (schema.CHUNKS, schema.PAGES, schema.FILINGS):
        table = _table(arguments.copy, name)
        _replace(arguments.copy, name, table, np.zeros_like(schema.vectors_matrix(table["vector"])))


def _table(index: Path, name: str) -> pa.Table:
    return lance.dataset(str(index / f"{name}.lance")).to_table()


def _places(table: pa.Table) -> list[tuple[str, str, int]]:
    """Filing, revision and page of each row."""
    return list(zip(*(table[name].to_pylist() for name in ("filing_id", "revision", "page")), strict=True))


def _replace(index: Path, name: str, table: pa.Table, vectors: Vectors) -> None:
    column = schema.vectors_array(vectors, vectors.shape[1])
    at = table.schema.get_field_index("vector")
    changed = table.set_column(at, table.schema.field(at), column)
    lance.write_dataset(changed, str(index / f"{name}.lance"), mode="overwrite")


if __name__ == "__main__":
    main()

"""Hours and dollars for indexing 145,897 filings, extrapolated from stage costs on a small corpus.

    python benchmarks/scale_costs.py --index INDEX [--parse 156 --embed 1071 --write 118 --upkeep 321 --driver 7.5]

INDEX is the index of the measured corpus; --parse and --embed are the stage seconds (summed over workers) that its
index job reported. --write (rows into data files) and --upkeep (compaction, search indexes), both by workers, and
--driver (commits) are the seconds for a million chunks that index_writing.py prints. Pages and chunks of each form come
from this index, the share of each form from scale_corpus.py.
Prices are examples in dollars per hour, as SHAPE=NAME:CPUS:NODES:PRICE; replace them with your own.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from scale_corpus import make_corpus

from finray.index import schema
from finray.index.layout import table_uri
from finray.index.reading.reader import IndexReader

HEAD_PRICE = 0.1008
"""m7i.large on demand, us-east-1: an example."""
EXAMPLES = (
    "1 node on demand=m7i.2xlarge:8:1:0.4032",
    "4 nodes on demand=m7i.2xlarge:8:4:0.4032",
    "4 nodes spot=m7i.2xlarge:8:4:0.1613",
    "16 nodes spot=m7i.2xlarge:8:16:0.1613",
)
EFFICIENCY = 0.93
"""Share of the wall time in which encoding workers were busy on 124 PDFs (21,394 pages, MiniLM, two processors)."""


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    machine: str
    cpus: int
    nodes: int
    price: float

    @classmethod
    def parse(cls, text: str) -> Shape:
        name, _, rest = text.partition("=")
        machine, cpus, nodes, price = rest.split(":")
        return cls(name, machine, int(cpus), int(nodes), float(price))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", required=True)
    parser.add_argument("--parse", type=float, default=156.0)
    parser.add_argument("--embed", type=float, default=1071.0)
    parser.add_argument("--write", type=float, default=118.0)
    parser.add_argument("--upkeep", type=float, default=321.0)
    parser.add_argument("--driver", type=float, default=7.5)
    parser.add_argument("--shape", action="append", type=Shape.parse)
    arguments = parser.parse_args()
    reader = IndexReader.open(arguments.index)
    counts = {name: reader.row_counts(name) for name in ("pages", "chunks")}
    measured: dict[str, list[str]] = defaultdict(list)
    for filing in reader.filings():
        measured[filing.form.removesuffix("/A")].append(filing.filing_id)
    wanted = Counter(filing.form.removesuffix("/A") for filing in make_corpus().filings)
    print("| form | filings | measured on | pages each | chunks each |\n|---|---:|---:|---:|---:|")
    total = dict.fromkeys(counts, 0.0)
    for form, number in wanted.most_common():
        each = {name: sum(counts[name][i] for i in measured[form]) / len(measured[form]) for name in counts}
        print(f"| {form} | {number:,} | {len(measured[form])} | {each['pages']:.0f} | {each['chunks']:.0f} |")
        total = {name: total[name] + number * each[name] for name in counts}
    of_sample = {name: sum(counts[name].values()) for name in counts}
    seconds = {
        "parse": arguments.parse * total["pages"] / of_sample["pages"],
        "embed": arguments.embed * total["chunks"] / of_sample["chunks"],
        "write": arguments.write * total["chunks"] / 1e6,
        "upkeep": arguments.upkeep * total["chunks"] / 1e6,
        "driver": arguments.driver * total["chunks"] / 1e6,
    }
    print(f"\n{total['pages'] / 1e6:.1f} million pages, {total['chunks'] / 1e6:.1f} million chunks")
    print("processor hours: " + ", ".join(f"{stage} {value / 3600:,.0f}" for stage, value in seconds.items()))
    # Every table except filings grows with pages or chunks; scale.py measures the filings table.
    size = 0.0
    for name in schema.CHILDREN:
        found = sum(p.stat().st_size for p in Path(table_uri(arguments.index, name)).rglob("*") if p.is_file())
        unit = "pages" if name == schema.PAGES else "chunks"
        size += found * total[unit] / of_sample[unit]
    print(f"index: {size / 1e9:,.0f} GB")
    print("\n| cluster | machine | hours | dollars |\n|---|---|---:|---:|")
    work = sum(value for stage, value in seconds.items() if stage != "driver")
    for shape in arguments.shape or map(Shape.parse, EXAMPLES):
        # The driver commits on the head, concurrently with the workers, which use all CPUs.
        hours = max(work / (shape.cpus * shape.nodes * EFFICIENCY), seconds["driver"]) / 3600
        dollars = hours * (shape.nodes * shape.price + HEAD_PRICE)
        print(f"| {shape.name} | {shape.nodes} x {shape.machine} at ${shape.price} | {hours:,.1f} | {dollars:,.0f} |")


if __name__ == "__main__":
    main()

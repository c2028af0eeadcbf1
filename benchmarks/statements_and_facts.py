"""Accuracy of statements and their numbers on the filings of $FINRAY_SHARED_DATA (default ../shared/data).

    python benchmarks/statements_and_facts.py statements     labeled pages of every PDF, and 10-Ks without one
    python benchmarks/statements_and_facts.py facts          line items of EDGAR HTML compared with its inline XBRL
    python benchmarks/statements_and_facts.py canonical      how often the main metrics are found in the 10-K PDFs
    python benchmarks/statements_and_facts.py identities     accounting identities over the PDFs, for every period
Add ``--failures`` to list every wrong value, or parts of file names to select filings.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import lxml.html
import pymupdf

from finray.core.filing import Filing, LineItem
from finray.core.settings import FilingSettings
from finray.filings.cover.facts import Facts
from finray.filings.cover.page import read_cover
from finray.filings.html import inline_xbrl
from finray.filings.html.grid import table_grid
from finray.filings.html.pages import parse_html, split_pages
from finray.filings.pdf.grid import page_grids
from finray.filings.tables import canonical
from finray.filings.tables.line_items import extract_line_items
from finray.filings.tables.statements import MAIN_KINDS, label_statements
from finray.filings.tables.tags import Context

DATA = Path(os.environ.get("FINRAY_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
_EXCHANGE = re.compile(r"effect.*exchange|exchange.*effect|currency effect", re.IGNORECASE)
MAIN_METRICS = (
    "revenue",
    "cost_of_revenue",
    "gross_profit",
    "operating_income",
    "pretax_income",
    "income_tax",
    "net_income",
    "net_income_attributable",
    "eps_basic",
    "eps_diluted",
    "shares_diluted",
    "interest_expense",
    "total_assets",
    "current_assets",
    "current_liabilities",
    "total_liabilities",
    "equity",
    "cash",
    "accounts_receivable",
    "inventory",
    "ppe_net",
    "goodwill",
    "accounts_payable",
    "long_term_debt",
    "d_and_a",
    "capex",
    "operating_cash_flow",
    "investing_cash_flow",
    "financing_cash_flow",
    "dividends_paid",
    "share_repurchases",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("statements", "facts", "canonical", "identities"))
    parser.add_argument("names", nargs="*", help="parts of file names")
    parser.add_argument("--failures", action="store_true")
    arguments = parser.parse_args()
    measure = {
        "statements": measure_statements,
        "facts": measure_facts,
        "canonical": measure_canonical,
        "identities": measure_identities,
    }
    measure[arguments.what](arguments.names, arguments.failures)


def _files(folder: str, suffix: str, names: list[str]) -> list[Path]:
    found = sorted((DATA / folder).glob(f"*{suffix}"))
    return [path for path in found if not names or any(name.lower() in path.name.lower() for name in names)]


def _filing(path: Path, facts: Facts) -> Filing:
    return Filing(
        path.stem,
        path.stem,
        str(path),
        "",
        facts.company or "",
        facts.form or "",
        period_end=facts.period_end,
        fiscal_year=facts.fiscal_year,
        fiscal_period=facts.fiscal_period,
        fiscal_year_end=facts.fiscal_year_end,
    )


def measure_statements(names: list[str], failures: bool) -> None:
    pages, seconds, annual, complete = 0, 0.0, 0, 0
    for path in _files("financebench/pdfs", ".pdf", names):
        with pymupdf.open(path) as document:  # type: ignore[no-untyped-call]
            texts = [page.get_text() for page in document]
        start = time.perf_counter()
        labels = label_statements(texts)
        seconds += time.perf_counter() - start
        pages += len(texts)
        missing = [kind for kind in MAIN_KINDS if kind not in labels]
        if read_cover(texts).form in ("10-K", "10-Q"):
            annual += 1
            complete += not missing
        if failures or missing:
            print(path.stem, " ".join(f"{i}:{label}" for i, label in enumerate(labels) if label), f"MISSING {missing}")
    print(
        f"income, balance sheet and cash flows all found: {complete} of {annual} 10-K and 10-Q; "
        f"{1000 * seconds / max(pages, 1):.2f} ms a page"
    )


def measure_facts(names: list[str], failures: bool) -> None:
    outcomes: Counter[str] = Counter()
    for path in _files("edgar/html", ".html", names):
        root = parse_html(path.read_bytes())
        if not inline_xbrl.has_inline_xbrl(root):
            continue
        own = _facts_of(path, root, failures)
        outcomes += own
        print(f"{path.stem:24}", _rates(own))
    print(f"{'all':24}", _rates(outcomes))


def _rates(outcomes: Counter[str]) -> str:
    total = sum(outcomes.values())
    share = outcomes["right"] / total if total else 0.0
    wrong = ", ".join(f"{name} {count}" for name, count in outcomes.most_common() if name != "right")
    return f"{share:.2%} of {total} ({wrong or 'none wrong'})"


def _facts_of(path: Path, root: lxml.html.HtmlElement, failures: bool) -> Counter[str]:
    filing = _filing(path, inline_xbrl.cover_facts(root))
    contexts = inline_xbrl.contexts(root)
    gold = {}
    for index, tagged in enumerate(inline_xbrl.numeric_facts(root)):
        gold[f"gold:{index}"] = tagged
        tagged.element.set("name", f"gold:{index}")  # the grid passes it on as Cell.concept
    outcomes: Counter[str] = Counter()
    pages = split_pages(root, FilingSettings())
    labels = label_statements([page.text for page in pages])
    for number, (page, label) in enumerate(zip(pages, labels, strict=True)):
        if label is None:
            continue
        grids = [grid for table in page.tables if (grid := table_grid(table, number))]
        items = {item.concept: item for item in extract_line_items(grids, page.text, label, filing) if item.concept}
        for element in _tagged_cells(page.tables):
            fact = gold.get(element.get("name") or "")
            if fact is None or fact.context not in contexts:
                continue
            outcome = _compare(items.get(element.get("name")), fact, contexts[fact.context], element)
            outcomes[outcome] += 1
            if failures and outcome != "right":
                print(
                    "   ",
                    number,
                    label,
                    outcome,
                    "| expected",
                    _row_label(element)[:60],
                    fact.value,
                    fact.unit,
                    contexts[fact.context].end,
                    contexts[fact.context].months,
                    "| got",
                    _brief(items.get(element.get("name"))),
                )
    return outcomes


def _tagged_cells(tables: tuple[lxml.html.HtmlElement, ...]) -> Iterator[lxml.html.HtmlElement]:
    """Tagged numbers with their own cell, without those inside a label ("100 shares authorized")."""
    for table in tables:
        for element in table.iter("ix:nonfraction"):
            cell = next((a for a in element.iterancestors() if a.tag in ("td", "th")), None)
            if (
                cell is not None
                and not re.search(r"[A-Za-z]{2}", cell.text_content())
                and element.text_content().strip()
            ):
                yield element


def _row_label(element: lxml.html.HtmlElement) -> str:
    row = next(a for a in element.iterancestors() if a.tag == "tr")
    texts = (" ".join(cell.text_content().split()) for cell in row.iterchildren("td", "th"))
    return next((text for text in texts if re.search(r"[A-Za-z]", text)), "")


def _compare(
    item: LineItem | None, fact: inline_xbrl.NumericFact, context: Context, element: lxml.html.HtmlElement
) -> str:
    if item is None:
        return "not extracted"
    if _letters(_row_label(element)) != _letters(item.label):
        return "wrong label"
    if abs(abs(item.value) - abs(fact.value)) > 1e-6 * max(abs(fact.value), 1.0):
        return "wrong value"
    cell = next(a for a in element.iterancestors() if a.tag in ("td", "th"))
    if ("(" in cell.text_content()) != (item.value < 0) and item.value:
        return "wrong sign"
    if item.period_end != context.end:
        return "wrong period end"
    if item.months != context.months:
        return "wrong months"
    wanted = {"usd": "USD", "shares": "shares", "usd/shares": "USD/share"}.get(fact.unit, item.unit)
    return "right" if item.unit == wanted or item.value == 0 else "wrong unit"


def _letters(text: str) -> str:
    return re.sub(r"\W", "", text.lower())


def _brief(item: LineItem | None) -> str:
    return (
        "nothing"
        if item is None
        else f"{item.label[:50]} {item.text} {item.value} {item.unit} {item.period_end} {item.months} [{item.section}]"
    )


def _read_pdfs(names: list[str]) -> Iterator[tuple[Path, Filing, list[LineItem]]]:
    for path in _files("financebench/pdfs", ".pdf", names):
        with pymupdf.open(path) as document:  # type: ignore[no-untyped-call]
            texts = [page.get_text() for page in document]
            filing = _filing(path, read_cover(texts))
            items: list[LineItem] = []
            for number, label in enumerate(label_statements(texts)):
                if label:
                    items += extract_line_items(page_grids(document[number], number), texts[number], label, filing)
        yield path, filing, items


def measure_canonical(names: list[str], failures: bool) -> None:
    found: Counter[str] = Counter()
    filings = 0
    for path, filing, items in _read_pdfs(names):
        if filing.form != "10-K":
            continue
        filings += 1
        for metric in MAIN_METRICS:
            item = canonical.find_line_item(metric, items, period_end=filing.period_end or dt.date.min)
            found[metric] += item is not None
            if failures:
                print(f"{path.stem:32} {metric:24}", _brief(item))
    for metric in MAIN_METRICS:
        print(f"{metric:26} {found[metric]:4} of {filings}")


def measure_identities(names: list[str], failures: bool) -> None:
    """Check accounting identities, which need no gold labels: a wrong row, column, sign or scale breaks them."""
    outcomes: Counter[tuple[str, bool]] = Counter()
    for path, _, items in _read_pdfs(names):
        for end in sorted({item.period_end for item in items if item.period_end}):
            for name, left, right, tolerance in _identities(items, end):
                holds = abs(left - right) <= max(tolerance * abs(left), 2.1e6 if abs(left) > 1e8 else 0.03)
                outcomes[name, holds] += 1
                if failures and not holds:
                    print(path.stem, end, name, left, right)
    for name in dict.fromkeys(name for name, _ in outcomes):
        print(f"{name:44} holds in {outcomes[name, True]} of {outcomes[name, True] + outcomes[name, False]} periods")


def _identities(items: list[LineItem], end: dt.date) -> Iterator[tuple[str, float, float, float]]:
    """Yield (name, left side, right side, relative tolerance) of each identity whose terms were all found."""

    def get(metric: str) -> LineItem | None:
        return canonical.find_line_item(metric, items, period_end=end)

    if (assets := get("total_assets")) and (both := get("liabilities_and_equity")):
        yield "assets = liabilities and equity", assets.value, both.value, 0.001
    if (revenue := get("revenue")) and (cost := get("cost_of_revenue")) and (gross := get("gross_profit")):
        yield "revenue - cost = gross profit", revenue.value - abs(cost.value), gross.value, 0.001
    if (pretax := get("pretax_income")) and (tax := get("income_tax")) and (net := get("net_income")):
        left = pretax.value - canonical.amount("income_tax", tax, items)
        yield "pretax - tax = net income (some have more)", left, net.value, 0.05
    income, shares, eps = get("net_income_attributable"), get("shares_diluted"), get("eps_diluted")
    if income and eps and shares and shares.value:
        yield "net income / diluted shares = diluted EPS", income.value / shares.value, eps.value, 0.02
    flows = [get(f"{kind}_cash_flow") for kind in ("operating", "investing", "financing")]
    if (change := get("change_in_cash")) and all(flows):
        exchange = sum(
            item.value
            for item in items
            if (item.statement, item.page, item.column) == ("cash_flow", change.page, change.column)
            and _EXCHANGE.search(item.label)
        )
        yield "cash flows + exchange = change in cash", sum(f.value for f in flows if f) + exchange, change.value, 0.001


if __name__ == "__main__":
    main()

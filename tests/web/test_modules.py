"""Unit tests of JavaScript modules of the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import finray

if TYPE_CHECKING:
    from playwright.sync_api import Page

WEB = Path(finray.__file__).parent / "web"


@pytest.fixture
def run(visit: Callable[..., Page], scripted: str) -> Callable[[str, str], Any]:
    """The value of a JavaScript expression with an import: ``run("rows", "m.readRows(…)")``."""
    page = visit(scripted)

    def value(module: str, code: str) -> Any:
        return page.evaluate(f"async () => {{ const m = await import('/js/{module}.js'); return {code}; }}")

    return value


def test_no_script_writes_html_or_is_long() -> None:
    scripts = sorted((WEB / "js").rglob("*.js"))
    assert len(scripts) > 20
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 250, path
        for forbidden in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "http://",
            "https://",
        ):
            found = text.replace("http://www.w3.org/2000/svg", "")
            assert forbidden not in found, f"{path} has {forbidden}"
    page = (WEB / "index.html").read_text(encoding="utf-8")
    assert "style=" not in page and "onclick" not in page and "//" not in page.replace("://", "")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_are_read_whatever_the_chunks(run: Callable[..., Any], size: int) -> None:
    events = run(
        "sse",
        f"""await (async () => {{
            const text = ': hi\\n\\nevent: stage\\ndata: {{"é": "日本"}}\\n\\n\\r\\n'
                + 'event: done\\r\\ndata: a\\r\\ndata: b\\r\\n\\r\\n';
            const bytes = new TextEncoder().encode(text);
            const stream = new ReadableStream({{
                start(to) {{
                    for (let at = 0; at < bytes.length; at += {size}) to.enqueue(bytes.slice(at, at + {size}));
                    to.close();
                }},
            }});
            const found = [];
            for await (const event of m.readEvents(stream)) found.push(event);
            return found;
        }})()""",
    )
    assert events == [{"name": "stage", "data": '{"é": "日本"}'}, {"name": "done", "data": "a\nb"}]


@pytest.mark.slow
@pytest.mark.browser
def test_rows_are_read_from_html_and_pdf_text(run: Callable[..., Any]) -> None:
    texts = "m.readRows({0}).map(row => row.cells.map(cell => cell.map(piece => piece.text).join(' ')))"
    html = texts.format(r"'Revenue | $5 | 4\nNote 😀 | 3'")
    pdf = texts.format(r"'Net revenues\n \nProduct sales\n$\n1,975\n $\n2,255 $\n2,110\nLoss\n(26\n)\n71'")
    assert run("rows", html) == [["Revenue", "$5", "4"], ["Note 😀", "3"]]
    assert run("rows", pdf) == [
        ["Net revenues"],
        ["Product sales", "$ 1,975", "$ 2,255", "$ 2,110"],
        ["Loss", "(26 )", "71"],
    ]
    places = "m.readRows({0}).flatMap(row => row.cells.flat().map(piece => piece.at))"
    assert run("rows", places.format(r"'😀 | $5\nNet'")) == [0, 4, 7], "places count code points"
    assert run("rows", places.format(r"'😀 Net\n $\n7'")) == [0, 7, 9]


@pytest.mark.slow
@pytest.mark.browser
def test_programs_are_put_into_numbers_of_one_scale(run: Callable[..., Any]) -> None:
    cells = "[{name: 'a_fy2019', value: -2500000}, {name: 'b', value: 1250000000}]"
    code = f"m.substituted(m.tokens('b * 2 - a_fy2019 where b = 1', {cells}))"
    assert run("program", code) == {"text": "1,250 * 2 - (−2.5)", "scale": "Figures in millions"}
    assert run("program", "m.readable('ppe_net_fy2018')") == "ppe net FY2018"


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("BEST BUY CO., INC.", "Best Buy"),
        ("BEST BUY CO INC", "Best Buy"),
        ("ACTIVISION BLIZZARD, INC.", "Activision Blizzard"),
        ("AMAZON.COM, INC.", "Amazon.com"),
        ("THE COCA-COLA COMPANY", "Coca-Cola"),
        ("BANK OF EXAMPLE CORP", "Bank of Example"),
        ("JPMorgan Chase & Co.", "JPMorgan Chase"),
        ("AMERICAN WATER WORKS COMPANY, INC.", "American Water Works"),
        ("CVS HEALTH CORP", "CVS Health"),
        ("Amcor plc", "Amcor"),
        ("The Company", "Company"),
        ("IBM", "IBM"),
        ("3M CO", "3M"),
    ],
)
def test_names_of_companies_are_written_as_in_a_sentence(run: Callable[..., Any], printed: str, name: str) -> None:
    assert run("names", f"m.companyName({printed!r})") == name


@pytest.mark.slow
@pytest.mark.browser
def test_a_company_goes_by_all_its_names(run: Callable[..., Any]) -> None:
    covers = """[
        {filing_id: "1", company: "OLD NAME INC", ticker: null, cik: "7", form: "10-K", fiscal_year: 2019},
        {filing_id: "2", company: "Other Co", ticker: "OTH", cik: null, form: "10-K", fiscal_year: 2020},
        {filing_id: "3", company: "New Name, Inc.", ticker: "NEW", cik: null, form: "10-K", fiscal_year: 2021},
        {filing_id: "4", company: "NEW NAME, INC.", ticker: "NEW", cik: "7", form: "10-Q", fiscal_year: 2022},
    ]"""
    names = run("library", f"new m.Library({covers}, true).companies.map(company => company.name)")
    assert names == ["New Name", "Other"]
    filters = "{companies: ['NEW NAME, INC.'], forms: [], fiscal_years: []}"
    assert run("library", f"new m.Library({covers}, true).matching({filters}).length") == 3
    sent = run("library", f"new m.Library({covers}, true).spelledOut({filters}).companies")
    assert set(sent) == {"OLD NAME INC", "New Name, Inc.", "NEW NAME, INC."}


@pytest.mark.slow
@pytest.mark.browser
def test_any_company_can_be_typed_if_the_filing_list_is_incomplete(run: Callable[..., Any]) -> None:
    offered = "m.choices(new (await import('/js/library.js')).Library([], {0}), m.noFilters(), ' Acme ')"
    assert run("choices", offered.format("true")) == []
    assert [choice["value"] for choice in run("choices", offered.format("false"))] == ["Acme"]


@pytest.mark.slow
@pytest.mark.browser
def test_rendered_evidence_is_read_as_tables_and_lines(run: Callable[..., Any]) -> None:
    text = r"**Cash \\< b** (USD)\n|USD|Dec 2023|\n|---|---:|\n|a \\| b \\\\|1|\n|\\<b>||\n… 2 rows left out"
    parts = run("markdown", f"m.readMarkdown('{text}')")
    assert parts == [
        [{"text": "Cash < b", "bold": True}, {"text": " (USD)", "bold": False}],
        {"heads": ["USD", "Dec 2023"], "rows": [["a | b \\", "1"], ["<b>", ""]]},
        [{"text": "… 2 rows left out", "bold": False}],
    ]

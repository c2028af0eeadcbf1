import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings
from finray.filings.html.pages import HtmlPage, parse_html, split_pages


def pages(markup: str, settings: FilingSettings | None = None) -> list[HtmlPage]:
    return split_pages(parse_html(markup.encode()), settings or FilingSettings())


def texts(markup: str) -> list[str]:
    return [page.text for page in pages(markup)]


@pytest.mark.parametrize(
    "mark",
    [
        '<hr style="page-break-after:always"/>',
        '<HR STYLE="COLOR: #000; PAGE-BREAK-AFTER: always">',
        '<div style="page-break-before: always"></div>',
        '<div style="break-after:page"></div>',
        "<PAGE>",
        "<!-- PAGEBREAK -->",
        '<div class="pb"></div>',
    ],
)
def test_every_kind_of_page_break_splits(mark: str) -> None:
    markup = (
        f"<html><head><style>.pb {{page-break-after: always}}</style></head><body><p>one</p>{mark}<p>two</p></body>"
    )
    assert texts(markup) == ["one", "two"]


def test_blocks_have_lines_and_inline_tags_do_not() -> None:
    markup = "<div>Item&nbsp;7.<b>Manage</b>ment<br>second</div>tail<p>third\nline</p>"
    assert texts(f"<body>{markup}</body>") == ["Item 7.Management\nsecond\ntail\nthird line"]


def test_hidden_inline_xbrl_is_not_text() -> None:
    markup = (
        '<body><div style="display:none"><ix:header><ix:hidden><ix:nonNumeric name="dei:X">secret</ix:nonNumeric>'
        "</ix:hidden></ix:header></div><p>shown <ix:nonFraction name='a'>1,234</ix:nonFraction> tail</p></body>"
    )
    assert texts(markup) == ["shown 1,234 tail"]


def test_tables_have_a_line_a_row_and_are_handed_on() -> None:
    markup = "<p>a</p><table><tr><td>Net sales</td><td>$</td><td>1,234</td></tr><tr><td></td></tr></table><p>b</p>"
    (page,) = pages(f"<body>{markup}</body>")
    assert page.text == "a\nNet sales | $1,234\nb"
    assert [table.tag for table in page.tables] == ["table"]


def test_a_layout_table_that_holds_the_document_is_split() -> None:
    inner = "<table><tr><td>x</td><td>1</td></tr></table>"
    markup = f'<table><tr><td>one{inner}<hr style="page-break-after:always">two</td></tr></table>'
    found = pages(f"<body>{markup}</body>")
    assert [page.text for page in found] == ["one\nx | 1", "two"]
    assert [len(page.tables) for page in found] == [1, 0]


def test_preformatted_text_keeps_its_lines() -> None:
    assert texts("<body><pre>Cash      12\nDebt       3\n</pre></body>") == ["Cash      12\nDebt       3"]


def test_a_long_document_without_page_breaks_is_set_aside() -> None:
    settings = FilingSettings(max_unpaged_characters=100)
    assert len(pages("<body>" + "<p>word</p>" * 10 + "</body>", settings)) == 1
    with pytest.raises(FilingError, match="no_page_breaks"):
        pages("<body>" + "<p>word</p>" * 100 + "</body>", settings)


def test_too_many_pages() -> None:
    with pytest.raises(FilingError, match="too_many_pages"):
        pages("<body>" + "<p>x</p><PAGE>" * 4 + "</body>", FilingSettings(max_pages=3))


def test_no_text_at_all() -> None:
    with pytest.raises(FilingError, match="no_text"):
        pages("<html><head><title>x</title></head><body> </body></html>")


def test_unclosed_inline_tags_lose_no_text() -> None:
    assert texts("<body>" + "<p><font size=2>word" * 3000 + "<p>last</body>")[0].endswith("word\nlast")


def test_blocks_nested_without_end_are_refused() -> None:
    with pytest.raises(FilingError, match="corrupt_html"):
        pages("<body>" + "<div>" * 5000 + "core")


def test_control_characters_are_dropped() -> None:
    assert texts("<body><p>a\x01b</p>\x02c&#1;&#xFFFF;&#xD800;d<br>\x0ce</body>")[0].startswith("ab")


PIECES = st.sampled_from(
    ["<table>", "</table>", "<tr>", "<td>", "$", "1,2", ")", "<hr style='page-break-after:always'>", "<PAGE>", "<div>",
     "</div>", "<!--", "-->", "<ix:header>", "<pre>", "\n", "text ", "<p", "&nbsp;", "\x00", "<style>.a{", "}</style>"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40))
def test_any_markup_has_pages_or_a_reason(pieces: list[str]) -> None:
    try:
        assert all(page.text.strip() for page in pages("".join(pieces)))
    except FilingError as error:
        assert error.stage == "parse"

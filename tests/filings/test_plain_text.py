from finray.filings.plain_text import split_text_pages


def test_page_tags_and_form_feeds_split_and_table_tags_go() -> None:
    text = "FORM 10-K  \r\none\r\n<PAGE>   2\n<TABLE>\n<S>   <C>\nCash   12\n</TABLE>\n\fthree\n<PAGE>\n\n"
    assert split_text_pages(text) == ["FORM 10-K\none", "Cash   12", "three"]

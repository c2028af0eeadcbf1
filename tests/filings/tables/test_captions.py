from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.tables.captions import CoverText, cover_signs, fold, plain

CAPTION = "(Exact name of registrant as specified in its charter)"


@pytest.mark.parametrize(
    "printed",
    [
        CAPTION,
        CAPTION.upper(),
        "(Exact name of\nregistrant as specified\nin its charter)",
        "(Exact\xa0name\xa0of\xa0reg\xadistrant)",
        "E x a c t   n a m e   o f   r e g i s t r a n t",
        "(Exact narne of registrant)",
        "(Exact narne 0f regi5trant as spec1fied in its charter)",
    ],
)
def test_a_caption_is_found_however_it_is_printed(printed: str) -> None:
    cover = CoverText(plain(f"ACME CORP\n{printed}\nDelaware"))
    caption = cover.first("name")
    assert caption is not None
    assert cover.text[: caption.start].rstrip("(\n") == "ACME CORP"
    assert "Delaware" not in cover.text[caption.start : caption.end]


def test_a_caption_ends_with_its_parenthesis() -> None:
    cover = CoverText(f"ACME {CAPTION} Delaware")
    caption = cover.first("name")
    assert caption is not None and cover.text[caption.end :] == " Delaware"


def test_signs_are_counted_by_kind() -> None:
    assert cover_signs(f"{CAPTION} Commission File No. 1-2 COMMISSION FILE NUMBER") == {"name", "file"}
    assert cover_signs("Grandmother's apple pie. Take three apples.") == set()


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("F O R M   1 0 - K", "FORM 10-K"),
        (" A\xa0B\u2009Inc. \n ____ \n\n", "A B Inc."),
        ("ofﬁce® 10–K", "office 10-K"),
        ("A 1 B", "A 1 B"),
    ],
)
def test_plain_text(printed: str, text: str) -> None:
    assert plain(printed) == text


@given(st.text(max_size=200))
def test_any_text_is_folded_and_has_captions_within_it(text: str) -> None:
    cover = CoverText(plain(text))
    for caption in cover.captions:
        assert 0 <= caption.start < caption.end <= len(cover.text)
        assert fold(cover.text[caption.start : caption.end]).startswith(caption.phrase)

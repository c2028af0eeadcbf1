from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Page
from finray.core.settings import ChunkSettings
from finray.filings.pages.chunks import chunk_page, chunk_pages

TEXT = st.text(alphabet=st.sampled_from("ab. \n\t—é"), max_size=900)


@given(TEXT, st.integers(64, 200), st.integers(0, 300))
def test_chunks_cover_the_page_and_quote_it_exactly(text: str, size: int, overlap: int) -> None:
    chunks = chunk_page(Page(page=3, text=text), ChunkSettings(size=size, overlap=overlap))
    covered: set[int] = set()
    for chunk in chunks:
        assert chunk.page == 3
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text.strip()
        assert 0 < len(chunk.text) <= size
        covered.update(range(chunk.start, chunk.end))
    assert all(text[at].isspace() for at in range(len(text)) if at not in covered)
    assert [chunk.start for chunk in chunks] == sorted({chunk.start for chunk in chunks})


def test_cuts_fall_between_paragraphs_where_they_can() -> None:
    text = "a" * 40 + "\n\n" + "b " * 40
    first, *_ = chunk_page(Page(0, text), ChunkSettings(size=64, overlap=0))
    assert first.text == "a" * 40


def test_neighbors_overlap_by_whole_words() -> None:
    text = " ".join(f"word{n:03}" for n in range(60))
    first, second, *_ = chunk_page(Page(0, text), ChunkSettings(size=128, overlap=30))
    assert first.start < second.start < first.end
    assert second.text.startswith("word")


def test_blank_pages_have_no_chunks() -> None:
    assert chunk_pages([Page(0, " \n"), Page(1, "")], ChunkSettings()) == ()


@given(st.text(max_size=900), st.integers(64, 200), st.integers(0, 300))
def test_chunks_of_tokens_cover_the_page_too(text: str, size: int, overlap: int) -> None:
    chunks = chunk_page(Page(page=0, text=text), ChunkSettings(unit="tokens", size=size, overlap=overlap))
    covered = {at for chunk in chunks for at in range(chunk.start, chunk.end)}
    assert all(text[at].isspace() for at in range(len(text)) if at not in covered)
    assert all(chunk.text == text[chunk.start : chunk.end] and chunk.text.strip() for chunk in chunks)
    assert [chunk.start for chunk in chunks] == sorted({chunk.start for chunk in chunks})


def test_a_number_is_several_tokens_and_a_word_is_one() -> None:
    """ "1,234" is three tokens and "word" one: 64 tokens are 16 of these pairs, or 64 words."""
    tokens = ChunkSettings(unit="tokens", size=64, overlap=0)
    first, *_ = chunk_page(Page(0, "word 1,234 " * 40), tokens)
    assert len(first.text.split()) == 2 * 16
    first, second, *_ = chunk_page(Page(0, "word " * 200), ChunkSettings(unit="tokens", size=64, overlap=8))
    assert len(first.text.split()) == 64
    assert (first.end - second.start) == len("word " * 8) - 1
    assert chunk_page(Page(0, "x" * 12 * 100), tokens)[0].end == 12 * 64


def test_chunks_of_a_page_of_digits_are_made_in_one_pass() -> None:
    """Dense text after sparse text: the overlap never outgrows the chunk, so that every chunk makes progress."""
    text = "word " * 3_000 + "1." * 20_000
    chunks = chunk_page(Page(0, text), ChunkSettings(unit="tokens", size=128, overlap=64))
    assert len(chunks) < 1_500

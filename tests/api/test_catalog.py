from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.api.catalog import Catalog
from finray.core.filing import Filing
from finray.core.filing_filter import FilingFilter

NAMES = st.sampled_from(["Acme Corp", "ACME corp", "acme", "ß", "SS", "320193", "0000320193", " Acme ", "", "T"])
FORMS = st.sampled_from(["10-K", "10-k", "10-Q", "8-K"])
YEARS = st.integers(2020, 2023)
FILINGS = st.lists(
    st.builds(
        lambda company, form, cik, ticker, year, aliases: Filing(
            "", "doc", "/s", "0", company, form, cik=cik, ticker=ticker, fiscal_year=year, aliases=tuple(aliases)
        ),
        NAMES,
        FORMS,
        st.none() | st.sampled_from(["0000320193", "320193", "77", ""]),
        st.none() | NAMES,
        st.none() | YEARS,
        st.lists(NAMES, max_size=2),
    ),
    max_size=12,
)
FILTERS = st.builds(
    lambda companies, forms, years: FilingFilter(tuple(companies), tuple(forms), tuple(years)),
    st.lists(NAMES, max_size=3),
    st.lists(FORMS, max_size=2),
    st.lists(YEARS, max_size=2),
)


def by_id(filings: list[Filing]) -> dict[str, Filing]:
    ids = [f"{7 * n % 13:02d}" for n in range(len(filings))]
    return {
        each: Filing(each, *(getattr(filing, name) for name in Filing.__slots__[1:]))
        for each, filing in zip(ids, filings, strict=True)
    }


@given(FILINGS, FILTERS, st.sampled_from(["", "03", "05x", "99"]), st.integers(1, 5))
def test_a_page_of_the_list_holds_matching_filings_in_order(
    listed: list[Filing], narrowed: FilingFilter, after: str, limit: int
) -> None:
    filings = by_id(listed)
    expected = [i for i in sorted(filings) if i > after and narrowed.passes(filings[i])]
    found, more = Catalog(filings, dict.fromkeys(filings, 1)).page(narrowed, after, limit)
    assert [filing.filing_id for filing in found] == expected[:limit]
    assert more == (len(expected) > limit)


@pytest.fixture(scope="module")
def large() -> Catalog:
    """100,000 filings of 5,000 companies."""
    filings = {}
    for n in range(100_000):
        company = n % 5_000
        names = (f"Company {company}", f"Formerly {company}")
        filing_id = f"{company:010d}-{n % 25:02d}-{n:06d}"
        filings[filing_id] = Filing(
            filing_id,
            doc_name=f"doc-{n}",
            source_uri=f"s3://b/{n}",
            content_sha256="0" * 64,
            company=f"Company {company}, Inc.",
            form=("10-K", "10-Q", "8-K")[n % 3],
            cik=f"{company:010d}",
            ticker=f"T{company}",
            fiscal_year=2000 + n % 25,
            aliases=names,
        )
    return Catalog(filings, dict.fromkeys(filings, 100))


@pytest.mark.parametrize(
    ("narrowed", "found"),
    [
        (FilingFilter(tuple(f"formerly {n}" for n in range(50))), 500),
        (FilingFilter(tuple(f"{n}" for n in range(1, 51)), ("10-K",)), 333),
        (FilingFilter(tuple(f"nobody {n}" for n in range(50)), ("10-k",) * 50, tuple(range(2000, 2050))), 0),
        (FilingFilter(), 500),
    ],
)
def test_one_of_100_000_filings_is_listed_in_milliseconds(large: Catalog, narrowed: FilingFilter, found: int) -> None:
    started = time.thread_time()
    listed, more = large.page(narrowed, "", 500)
    spent = time.thread_time() - started
    assert (len(listed), more) == (found, found == 500)
    assert spent < 0.1  # about 0.001 where nothing else runs; it was 4

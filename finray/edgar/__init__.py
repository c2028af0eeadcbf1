"""Fresh filings from EDGAR or its dumps: what was filed, fetched politely and once, into a raw store beside a ledger.

selection (forms, companies, dates) -> listing (what EDGAR says was filed) -> ledger (what of it is missing)
-> fetch or feed (the bytes) -> store (raw filings) -> indexing (what the index lacks, and what it must drop).
"""

"""New filings from EDGAR or its dumps: each is fetched once, within SEC's limits, into a raw store beside a ledger.

selection (forms, companies, dates) -> listing (what EDGAR lists) -> ledger (what is missing)
-> fetch or dumps (the bytes) -> store (raw filings) -> indexing (what to add to the index and what to withdraw).
"""

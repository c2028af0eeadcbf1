"""EDGAR HTML filings: pages, tables and tagged facts."""

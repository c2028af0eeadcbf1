"""Retrieves filings, pages and passages for a question."""

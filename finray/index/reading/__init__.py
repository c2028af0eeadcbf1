"""Committed rows of an index, and look-up of its filings, companies and line items."""

"""Open-domain question answering over SEC filings, in bulk and with evidence."""

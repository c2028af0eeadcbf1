"""From a question to filings, pages and passages."""

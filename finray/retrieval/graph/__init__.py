"""Knowledge graphs of filings: entities and relations with the pages that they come from."""

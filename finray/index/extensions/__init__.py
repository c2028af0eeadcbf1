"""Tables beside an index for one method: other vectors or words, trees over filings, summaries."""

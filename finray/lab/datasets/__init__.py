"""Question sets: published benchmarks in finray's format, and questions generated from tagged filings."""

"""Question sets: benchmarks of others in our own format, and questions generated from tagged filings."""

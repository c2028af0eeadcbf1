"""One table of an index: its search indexes, searches, digests and maintenance."""

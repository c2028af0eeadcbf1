"""MiniLM's layers without its frameworks: tokens, packed sequences, and forward passes that load in half a second."""

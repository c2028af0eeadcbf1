"""Passages as evidence that can be read: whole tables and prose, for a budget of tokens."""

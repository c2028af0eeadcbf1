"""Retrievers of agent frameworks over an index or a running service."""

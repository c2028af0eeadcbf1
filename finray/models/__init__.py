"""Encoders, rerankers and chat models: the roles, and one file for each backend."""

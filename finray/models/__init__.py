"""Encoders, rerankers and chat models: roles and backends."""

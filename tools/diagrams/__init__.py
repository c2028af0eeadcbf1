"""Diagrams of docs/architecture.md, generated from the source: the rooms and their imports, and the two trips."""

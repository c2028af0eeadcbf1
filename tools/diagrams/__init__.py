"""Pictures of docs/architecture.md, drawn from the source: the rooms and their imports, and the two trips."""

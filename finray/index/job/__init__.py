"""The index job as stages that run with or without Ray: read, parse, embed, write."""

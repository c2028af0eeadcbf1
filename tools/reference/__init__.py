"""Generates reference pages of docs/ from the code: settings, HTTP API, records."""

"""Pages of docs/ that are written from code: the settings and the HTTP API."""

"""Retrieval methods, one file each, chosen by name (``retrieval.method``); ``registry.py`` lists them."""

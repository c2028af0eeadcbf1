"""Reads questions: companies, periods, forms, metrics, and plans to compute them."""

"""Reads what a question asks for: companies, periods, forms, metrics, and plans to compute them."""

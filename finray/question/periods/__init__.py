"""Fiscal periods that a question names."""

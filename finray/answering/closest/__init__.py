"""Rows and sentences closest to a question that has no answer."""

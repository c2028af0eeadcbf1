"""Cells of tables, and how the words of a question find them."""

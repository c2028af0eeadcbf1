"""Reads figures from any table of the retrieved pages: which rows, which columns, and what is computed from them."""

"""Fictional filings that look alike as real ones do, with questions and exact gold answers."""

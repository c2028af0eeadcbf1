"""Generates fictional filings that look as alike as real ones, with questions and exact gold answers."""

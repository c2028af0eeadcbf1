"""Answers read or computed from evidence."""

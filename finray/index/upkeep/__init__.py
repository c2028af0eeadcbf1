"""Upkeep of a whole index, and checks of its consistency."""

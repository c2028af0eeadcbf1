"""Figures that sentences state, and lists of them by period, which are rows of tables in words."""

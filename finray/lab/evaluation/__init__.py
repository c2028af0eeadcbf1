"""Question sets, metrics with intervals, and reports."""

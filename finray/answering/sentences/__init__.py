"""Answers from sentences: quotations and the figures that they state."""

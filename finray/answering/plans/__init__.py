"""Answers computed by a plan from looked-up cells."""

"""Judges of answers in words, their judgements, and their agreement with labels."""

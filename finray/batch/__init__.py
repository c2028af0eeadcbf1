"""Thousands of questions at once: question files, prediction files and the driver between them."""

"""Fits what chooses rows, cells, sentences, figures and rankings, and how sure an answer is."""

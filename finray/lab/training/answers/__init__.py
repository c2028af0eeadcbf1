"""Fits what chooses rows, cells, sentences and figures, and how sure an answer is."""

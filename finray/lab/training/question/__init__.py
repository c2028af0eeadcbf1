"""Fits what labels the words of a question, and what it asks for."""

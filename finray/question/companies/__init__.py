"""Companies of the index, and those that a question names."""

"""Follow-up questions, completed from the question before."""

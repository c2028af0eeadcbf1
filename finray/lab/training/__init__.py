"""Fine-tuning of the page scorer and the reranker, and fitting of small models, from questions with evidence."""

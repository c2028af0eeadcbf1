"""Fine-tuning the page scorer and the reranker: examples from questions with evidence, training that resumes, folds."""

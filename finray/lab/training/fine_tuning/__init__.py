"""Fine-tunes the page scorer and the reranker on GPUs or processors: data, runs that resume, held-out metrics."""

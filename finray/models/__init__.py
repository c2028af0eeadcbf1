"""Model roles (encoder, reranker, chat model) and one file per backend."""

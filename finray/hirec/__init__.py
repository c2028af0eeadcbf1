"""HiREC's loop (arXiv 2505.20368, Algorithm 1) and its roles."""

"""Builds an open-domain benchmark in the way of LOFin (arXiv 2505.20368, section 3, appendix B)."""

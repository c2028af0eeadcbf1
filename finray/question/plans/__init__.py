"""Plans: which figures to look up and what to compute from them."""

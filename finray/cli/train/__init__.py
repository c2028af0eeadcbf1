"""``finray train``: fine-tunes models, fits small ones, and measures their gain."""

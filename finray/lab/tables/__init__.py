"""The tables of the publications, computed with this project's methods: ``finray tables SYSTEM``."""

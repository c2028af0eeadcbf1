"""Trees over the text of a filing: clusters, written nodes, and their storage. For ``fingear`` and ``raptor``."""

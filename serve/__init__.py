"""The Ray Serve application: what runs in which replica. Everything that needs no Ray is in ``finray.api``."""

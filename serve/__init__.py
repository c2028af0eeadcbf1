"""The Ray Serve application: deployments and their replicas. The code that needs no Ray is in ``finray.api``."""

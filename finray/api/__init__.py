"""The HTTP service without Ray: routes, request validation, API keys, rate limits, and engines.

``create_app`` (finray.api.app) builds an ASGI application over a ``Service`` (finray.api.service); ``serve/`` at the
top of the repository runs it on Ray Serve.
"""

"""The HTTP service without Ray: routes, requests and replies, keys, limits, and the engine behind them.

``create_app`` (finray.api.app) makes an ASGI application over a ``Service`` (finray.api.service); ``serve/`` at the top
of the repository runs it on Ray Serve.
"""

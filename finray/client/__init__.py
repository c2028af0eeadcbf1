"""Synchronous and asynchronous clients of the HTTP service, with typed results.

with Client("http://127.0.0.1:8000", api_key=key) as client:
    prediction = client.answer("What was Acme's revenue in fiscal 2023?")
"""

from finray.client.clients import AsyncClient, Client
from finray.client.wire import ServiceError
from finray.core.batch_replies import Batch, BatchAnswer, BatchAnswers, BatchList, FileObject
from finray.core.replies import AnswerEvent, FilingCover, FilingPage, Ready, Retrieved, ServiceEvent, StageEvent

__all__ = [
    "AnswerEvent",
    "AsyncClient",
    "Batch",
    "BatchAnswer",
    "BatchAnswers",
    "BatchList",
    "Client",
    "FileObject",
    "FilingCover",
    "FilingPage",
    "Ready",
    "Retrieved",
    "ServiceError",
    "ServiceEvent",
    "StageEvent",
]

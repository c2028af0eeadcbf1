"""Redacts errors for clients. Their messages name model URLs, index locations and paths, which the operator needs;
they go to the log with the request id."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final

from finray.api.errors import ApiError, invalid
from finray.core.errors import (
    EngineUnavailableError,
    FinrayError,
    ModelError,
    ModelReplyError,
    ModelUnavailableError,
    QuestionError,
    QuestionTimeoutError,
)
from finray.core.predictions import Prediction

START_SECONDS: Final = 5.0
"""Rough start time of an engine process."""
_log = logging.getLogger(__name__)
_NO_MODEL = "a model that this service needs cannot be reached; try again later"
_NO_REPLY = "a model that this service needs gave no usable reply; try again"
_FAILED = "the question could not be processed"
_KINDS = {ModelUnavailableError.__name__: _NO_MODEL, ModelReplyError.__name__: _NO_REPLY}


def without_places(prediction: Prediction, request_id: str) -> Prediction:
    """``prediction`` for a client: an error shows only its kind, unless the question itself was invalid."""
    kind = (prediction.error or "").partition(":")[0]
    if prediction.error is None or kind == QuestionError.__name__:
        return prediction
    _log_error(request_id, prediction.error)
    shown = f"{kind}: " if kind.isidentifier() else ""
    return replace(prediction, error=f"{shown}{_KINDS.get(kind, _FAILED)} (the service's log has more: {request_id})")


def for_client(error: FinrayError, request_id: str) -> ApiError:
    """The reply to a request that failed with ``error``."""
    if isinstance(error, QuestionError):
        return invalid("invalid_question", str(error), "question")
    if isinstance(error, QuestionTimeoutError):
        return ApiError(504, "timeout", f"{error}; ask fewer questions at once")
    _log_error(request_id, f"{type(error).__name__}: {error}")
    if isinstance(error, EngineUnavailableError):
        return ApiError(503, "not_ready", "no engine is available; try again", retry_after=START_SECONDS)
    if isinstance(error, ModelError):
        return ApiError(503, "model_unavailable", _NO_MODEL)
    return ApiError(500, "internal_error", f"{_FAILED}; see the service's log")


def _log_error(request_id: str, error: str) -> None:
    _log.error("request %s: a question failed: %s", request_id, error)

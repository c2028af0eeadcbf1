"""Every exception that finray raises on purpose.

Each message names the problem, the value and the fix.
"""

from __future__ import annotations

from typing import Literal

Stage = Literal["read", "parse", "embed", "write"]


class FinrayError(Exception):
    """Base of all errors that finray raises on purpose."""


class UsageError(FinrayError):
    """The command cannot run as asked: the command line exits with 2."""


class SettingsError(UsageError):
    """A preset, environment variable or argument is wrong."""


class MissingExtraError(UsageError):
    """A package of one of finray's extras is not installed; the message names the extra."""


class SourceError(UsageError):
    """A folder, glob, file or s3:// location cannot be listed, read or written."""


class CommitConflictError(SourceError):
    """Another writer changed the same part of a table at the same time."""


class IndexMissingError(UsageError):
    """There is no index at the given location."""


class IndexDamagedError(UsageError):
    """Files of an index cannot be read; the message has the command that repairs it."""


class IndexMismatchError(UsageError):
    """The index was built with other settings (encoder, chunk size)."""


class FilingError(FinrayError):
    """One filing cannot be used; it becomes a row in ``failures`` and stops no job.

    ``stage`` is where it failed, ``reason`` a short stable slug for counting (``"encrypted"``), ``detail`` one line
    for a person.
    """

    def __init__(self, stage: Stage, reason: str, detail: str) -> None:
        super().__init__(f"{stage}: {reason}: {detail}")
        self.stage: Stage = stage
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[FilingError], tuple[str, str, str]]:
        # Exceptions pickle their args, which here are not those of the constructor.
        return (type(self), (self.stage, self.reason, self.detail))


class QuestionError(FinrayError):
    """One question cannot be used; it becomes a prediction with status "error"."""


class EngineError(FinrayError):
    """One question did not finish."""


class QuestionTimeoutError(EngineError):
    """A question exceeded its time limit."""


class EngineLostError(EngineError):
    """Every process that worked on a question ended."""


class EngineUnavailableError(FinrayError):
    """No process of an engine starts."""


class SandboxError(FinrayError):
    """A program of thought was refused, failed or exceeded a limit.

    ``reason`` is a short stable slug for counting (``finray.sandbox.limits.Reason``), ``line`` the faulty line of the
    program, 1-based, or None.
    """

    def __init__(self, reason: str, detail: str, line: int | None = None) -> None:
        super().__init__(detail if line is None else f"line {line}: {detail}")
        self.reason = reason
        self.detail = detail
        self.line = line

    def __reduce__(self) -> tuple[type[SandboxError], tuple[str, str, int | None]]:
        return (type(self), (self.reason, self.detail, self.line))


class EdgarError(FinrayError):
    """EDGAR, or a dump of it, cannot be read."""


class EdgarBlockedError(EdgarError):
    """EDGAR refuses every request from here for a while."""


class EdgarMissingError(EdgarError):
    """EDGAR has no such file."""


class EdgarUnavailableError(EdgarError):
    """No complete and valid response after several tries."""


class EdgarRefusedError(EdgarUnavailableError):
    """A response that a retry would not improve: a redirect to another host, or far too large."""


class ModelError(FinrayError):
    """A model role failed."""


class ModelUnavailableError(ModelError):
    """Weights, server or package are missing."""


class RequestRejectedError(ModelUnavailableError):
    """A language model rejects one request as it is; a retry would not help. ``status`` is that of HTTP, 400 to 499."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type[RequestRejectedError], tuple[int, str]]:
        return (type(self), (self.status, str(self)))


class ModelReplyError(ModelError):
    """The model's reply does not have the requested form."""

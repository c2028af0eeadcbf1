"""Everything finray raises on purpose.

    FinrayError
    ├── UsageError              the command cannot run as asked: the command line exits with 2
    │   ├── SettingsError       a preset, environment variable or argument is wrong
    │   ├── MissingExtraError   a package of an extra is not installed
    │   ├── SourceError         a folder, glob, file or s3:// location cannot be listed or read
    │   │   └── CommitConflictError     another writer changed the same table in the same moment
    │   ├── IndexMissingError   there is no index at this location
    │   ├── IndexDamagedError   files of the index cannot be read any more
    │   └── IndexMismatchError  the index was built with other settings (encoder, chunk size)
    ├── FilingError             one filing cannot be used: becomes a row in ``failures``, never stops a job
    ├── QuestionError           one question line cannot be used: becomes a prediction with status "error"
    ├── EngineError             one question did not come to an end
    │   ├── QuestionTimeoutError    it took more time than a question may
    │   └── EngineLostError         each process that worked on it ended
    ├── EngineUnavailableError  no process of an engine comes up
    ├── SandboxError            a program of thought was refused, failed or took too much
    ├── EdgarError              EDGAR, or a dump of it, cannot be read
    │   ├── EdgarBlockedError       EDGAR refuses every request from here for a while
    │   ├── EdgarMissingError       EDGAR has no such file
    │   └── EdgarUnavailableError   no complete and sound answer, after several tries
    │       └── EdgarRefusedError   an answer that is not taken: a redirect elsewhere, or far too much
    └── ModelError              a model role failed
        ├── ModelUnavailableError   weights, server or package missing
        └── ModelReplyError         the model answered, but not with what was asked for

Each message says what was wrong, with which value, and how to fix it.
"""

from __future__ import annotations

from typing import Literal

Stage = Literal["read", "parse", "embed", "write"]


class FinrayError(Exception):
    """Base of all errors that finray raises on purpose."""


class UsageError(FinrayError):
    """The command cannot run as asked."""


class SettingsError(UsageError):
    """A preset, environment variable or argument is wrong."""


class MissingExtraError(UsageError):
    """A package is not installed that only an extra of finray brings; the message names the extra."""


class SourceError(UsageError):
    """A source or target location cannot be listed, read or written."""


class CommitConflictError(SourceError):
    """Another writer committed a change of the same thing to a table, in the moment between its opening and ours."""


class IndexMissingError(UsageError):
    """There is no index at the given location."""


class IndexDamagedError(UsageError):
    """Files of an index cannot be read any more; the message says how to mend it."""


class IndexMismatchError(UsageError):
    """The index was built with settings that the present ones cannot read or extend."""


class FilingError(FinrayError):
    """One filing cannot be used.

    ``stage`` is where it failed, ``reason`` a short stable slug for counting (``"encrypted"``), ``detail`` one line
    for a person.
    """

    def __init__(self, stage: Stage, reason: str, detail: str) -> None:
        super().__init__(f"{stage}: {reason}: {detail}")
        self.stage: Stage = stage
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[FilingError], tuple[str, str, str]]:
        # Exceptions pickle by their args; ours differ from the constructor's, and Ray moves them between processes.
        return (type(self), (self.stage, self.reason, self.detail))


class QuestionError(FinrayError):
    """One question cannot be used."""


class EngineError(FinrayError):
    """One question did not come to an end."""


class QuestionTimeoutError(EngineError):
    """A question took more time than it may."""


class EngineLostError(EngineError):
    """Each process that worked on a question ended."""


class EngineUnavailableError(FinrayError):
    """No process of an engine comes up."""


class SandboxError(FinrayError):
    """A program of thought has no result.

    ``reason`` is a short stable slug for counting (``finray.sandbox.limits.Reason``), ``line`` the program's line at
    fault, 1-based, or None.
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
    """No complete and sound answer, after several tries."""


class EdgarRefusedError(EdgarUnavailableError):
    """An answer that is not taken, and would be the same the next time: a redirect elsewhere, or far too much."""


class ModelError(FinrayError):
    """A model role failed."""


class ModelUnavailableError(ModelError):
    """Weights, server or package are missing."""


class ModelReplyError(ModelError):
    """The model answered, but not with what was asked for."""

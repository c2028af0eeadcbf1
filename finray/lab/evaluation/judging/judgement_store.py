"""Stores judgements on disk one by one, so that a run that resumes after a kill repeats none."""

from __future__ import annotations

from dataclasses import dataclass

from finray.batch.prediction_files import prediction_files
from finray.batch.stored_lines import Line
from finray.core.errors import SourceError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.lab.evaluation.judging.judgement import Judgement, decode, encode, submission_of


@dataclass(frozen=True, slots=True)
class JudgementFile:
    """The latest judgement of each answer, by its key."""

    judge: str
    by_key: dict[str, Judgement]

    def verdict(self, question: Question, prediction: Prediction) -> bool | None:
        """Whether the answer was judged correct; None if it was not judged (a Judge of ``evaluate``)."""
        submission = submission_of(question, prediction)
        judgement = None if submission is None else self.by_key.get(submission.key)
        return None if judgement is None or judgement.verdict is None else judgement.verdict == "correct"


def read_judgements(uri: str) -> JudgementFile:
    """The judgements at ``uri``, also of a run that is still active or was killed. Raises SourceError if there are
    none, or if they are of several judges, whose verdicts must not be mixed."""
    _check_name(uri)
    found = [_decoded(line, uri) for line in prediction_files(uri, Judgement).lines()]
    if not found:
        raise SourceError(f"{uri!r}: no judgements there; `finray judge` writes them")
    judges = {(judgement.judge, judgement.judge_hash): None for judgement in found}
    if len(judges) > 1:
        named = ", ".join(f"{name} ({of})" for name, of in judges)
        raise SourceError(f"{uri!r} holds judgements of several judges: {named}; keep a file for each")
    return JudgementFile(found[0].judge, {judgement.key: judgement for judgement in found})


class JudgementStore:
    """The judgements of one judge at one local path or ``s3://`` URI that ends in .jsonl, opened for writing.

    Raises SourceError if the target cannot be written, is another kind of file, or belongs to another judge.
    """

    def __init__(self, uri: str, judge: str, judge_hash: str) -> None:
        _check_name(uri)
        self._files = prediction_files(uri, Judgement)
        self._files.open()
        self.by_key: dict[str, Judgement] = {}
        """Stored judgements by the answer's key."""
        try:
            for line in self._files.lines():
                judgement = _decoded(line, uri)
                if judgement.judge_hash != judge_hash:
                    raise SourceError(
                        f"{uri!r} holds judgements of {judgement.judge} ({judgement.judge_hash}), and {judge} "
                        f"({judge_hash}) judges now: give another --out, or remove it"
                    )
                self.by_key[judgement.key] = judgement
        except BaseException:
            self._files.close()
            raise

    def append(self, judgement: Judgement) -> None:
        """Store ``judgement`` durably."""
        self._files.append(encode(judgement))
        self.by_key[judgement.key] = judgement

    def finish(self) -> None:
        """Rewrite the file with each answer once."""
        self._files.replace(encode(judgement) for judgement in self.by_key.values())

    def close(self) -> None:
        self._files.close()

    def __enter__(self) -> JudgementStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_name(uri: str) -> None:
    if not uri.lower().endswith(".jsonl"):
        raise SourceError(f"{uri!r}: a file of judgements ends in .jsonl")


def _decoded(line: Line, uri: str) -> Judgement:
    try:
        return decode(line.content)
    except ValueError as error:
        raise SourceError(f"{uri!r} is not a file of judgements: {line.where}: {error}") from error

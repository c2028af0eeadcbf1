"""Records the replies of a strong reader to finray's own prompts, for the tests of the model's path without a model.

    python -m tools.record_replies [--shared FOLDER]

``tests/fixtures/model_replies/script.toml`` holds the replies as a person wrote them: they name cells by their words
and passages by their source, because ids change with the evidence. This command asks every question, finds the ids in
each prompt, and stores the replies by the hash of their prompt in ``CORPUS.jsonl``. Run it after a change of
prompts, retrieval or evidence; without the published filings their recorded replies stay as they are. A reference that
fits nothing in its prompt is an error: read the prompt, and answer it anew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from finray.core.predictions import Prediction, TokenUsage
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings
from finray.engine import open_engine
from finray.index.job.in_process import index_in_process
from finray.lab.sample.generate import generate_sample
from finray.models.chat import ChatModel, ChatReply, Message
from finray.models.replay_cache import ReplayingChatModel

FIXTURE = Path(__file__).parents[1] / "tests" / "fixtures" / "model_replies"
SHARED = Path(__file__).parents[2] / "shared" / "data"
_READING = {"companies": [], "periods": [], "form": "", "items": [], "statements": [], "operation": "", "answer": ""}
_ANSWER = {"reasoning": "", "enough": True, "citations": [], "program": "", "unit": "", "answer": "", "missing": ""}
_REQUEST = {"question": "", "companies": [], "periods": [], "form": "", "statements": [], "neighbours": []}
_LETTER = re.compile(r"([A-Z]{1,2}): ?(.*)")
_ROW = re.compile(r"(\d+) (.*)")
_MARKS = re.compile(r" \[[A-Z]{1,2}\d+\]|(?<=^\|)\d+ ", re.M)
_MARK = re.compile(r"[^.;]*? \[([A-Z]{1,2}\d+)\]")
_PASSAGE = re.compile(r'<passage-\w+ id="(\d+)" source="([^"]*)">\n(.*?)\n</passage-', re.S)
_NAMED = re.compile(r"\[\[(\w+)\]\]")


class ScriptError(Exception):
    """The script does not fit a prompt."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """One question of the script: the reader's reply, then one for each round. ``expected`` is the answer's text."""

    corpus: str
    question: str
    expected: str
    read: Mapping[str, Any]
    rounds: Sequence[Mapping[str, Any]]
    value: float | None = None


@dataclass(slots=True)
class ScriptModel:
    """Plays the model by the script."""

    script: Sequence[Scripted]
    asked: int = 0
    rounds: dict[str, int] = field(default_factory=dict)

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        self.asked += 1
        prompt = messages[-1].content
        one = next((each for each in self.script if f"Question: {each.question}" in prompt), None)
        if one is None:
            raise ScriptError(f"no reply for the prompt that ends in {prompt[-300:]!r}")
        if schema is not None and "items" in schema["properties"]:
            reply = {"question": one.question, **_READING, **one.read}
        else:
            number = self.rounds[one.question] = self.rounds.get(one.question, 0) + 1
            if number > len(one.rounds):
                raise ScriptError(f"{one.question!r}: no reply for round {number}; the prompt is\n{prompt}")
            reply = _resolved(one.rounds[number - 1], prompt)
        words = sum(len(message.content) for message in messages) // 4
        return ChatReply(str(reply), TokenUsage(words, len(str(reply)) // 4), reply)


def _resolved(written: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """The reply with the ids of ``prompt`` in place of words. Raises ScriptError."""
    reply: dict[str, Any] = {**_ANSWER, **_REQUEST, **{key: v for key, v in written.items() if key != "cells"}}
    names = {name: _cell(words, prompt) for name, words in written.get("cells", {}).items()}
    for key in ("program", "answer"):
        reply[key] = _NAMED.sub(lambda match: names[match[1]], reply[key])
    for key in ("citations", "neighbours"):
        reply[key] = [_passage(words, prompt) for words in reply[key]]
    return reply


def _cell(words: Sequence[str], prompt: str) -> str:
    """The first cell of ``prompt`` around which all ``words`` stand: in its passage's source and title, the head of its
    column, its row, or its part of a sentence."""
    for number, source, text in _PASSAGE.findall(prompt):
        for mark, around in _cells(text):
            if all(word in f"{source} | {around}" for word in words):
                return f"c{number}{mark}"
    raise ScriptError(f"no cell with {words} in\n{prompt}")


def _cells(text: str) -> Iterator[tuple[str, str]]:
    """(mark, words around it) of each figure of a passage."""
    title, section = "", ""
    heads: list[str] = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("|") else []
        row = _ROW.fullmatch(cells[0]) if cells else None
        if not cells:
            title = title if heads else line
            yield from ((found[1], f"{title} | {found[0]}") for found in _MARK.finditer(line))
        elif not heads:
            heads = cells
        elif row is None:
            section = cells[0]
        else:
            for head, cell in zip(heads[1:], cells[1:], strict=True):
                letter = _LETTER.fullmatch(head)
                if letter is not None and cell:
                    place = f"{title} | {heads[0]} | {section} | {row[2]} | {letter[2]} | {cell}"
                    yield f"{letter[1]}{row[1]}", place


def _passage(words: Sequence[str], prompt: str) -> int:
    for number, source, text in _PASSAGE.findall(prompt):
        if all(word in f"{source}\n{_MARKS.sub('', text)}" for word in words):
            return int(number)
    raise ScriptError(f"no passage with {words} in\n{prompt}")


def script() -> list[Scripted]:
    lines = tomllib.loads((FIXTURE / "script.toml").read_text(encoding="utf-8"))["questions"]
    return [Scripted(**line) for line in lines]


def corpora(shared: Path) -> dict[str, list[str]]:
    """The published filings of each corpus of the script besides the generated one."""
    names = tomllib.loads((FIXTURE / "script.toml").read_text(encoding="utf-8"))["filings"]
    return {corpus: [str(shared / name) for name in files] for corpus, files in names.items()}


def build_index(sources: Sequence[str], folder: Path) -> str:
    """An index with the encoder that needs no weights, so that every machine ranks alike."""
    settings = load_settings(overrides={"encoder.model": "hash"}, environment={})
    summary = index_in_process(list(sources), str(folder / "index"), settings)
    if summary.failed:
        raise ScriptError(f"{summary.failed} of {len(sources)} filings could not be read")
    return str(folder / "index")


def sample_sources(folder: Path) -> list[str]:
    """The generated filings that the tests index."""
    generate_sample(folder, companies=3, years=3, seed=7, formats=("html",), questions=240, workers=1)
    patterns = ("*10k*", "*-2023-q2-10q*", "*8k-2023*")
    return [str(path) for pattern in patterns for path in sorted((folder / "filings").glob(pattern))]


def model_settings(folder: Path) -> Settings:
    """The model preset over the recorded replies in ``folder``."""
    overrides = {"encoder.model": "hash", "llm.model": "recorded", "llm.replay_cache": str(folder)}
    return load_settings("model", overrides=overrides, environment={})


async def answers(index: str, questions: Sequence[Scripted], model: ChatModel, folder: Path) -> list[Prediction]:
    """The answers to ``questions`` with replies from ``folder``, else from ``model``."""
    settings = model_settings(folder)
    engine = open_engine(index, settings, chat=ReplayingChatModel(model, settings.llm))
    return [await engine.answer(Question(str(n), one.question)) for n, one in enumerate(questions)]


def unpack(corpus: str, folder: Path) -> None:
    """Fill ``folder`` with the recorded replies of ``corpus``, in the form of the replay cache."""
    for line in (FIXTURE / f"{corpus}.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        path = folder / record["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record["reply"]), encoding="utf-8")
        path.chmod(0o600)


def _pack(folder: Path, corpus: str) -> None:
    records = (
        {"name": path.relative_to(folder).as_posix(), "reply": json.loads(path.read_text(encoding="utf-8"))}
        for path in sorted(folder.glob("??/*.json"))
    )
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    (FIXTURE / f"{corpus}.jsonl").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=SHARED, help="The folder of published filings.")
    shared: Path = parser.parse_args().shared
    for corpus in dict.fromkeys(one.corpus for one in script()):
        sources = corpora(shared).get(corpus)
        if sources is not None and not all(map(Path.exists, map(Path, sources))):
            _say(f"{corpus}: skipped, no filings in {shared}")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            index = build_index(sources or sample_sources(Path(scratch)), Path(scratch))
            recorded = Path(scratch) / "recorded"
            mine = [one for one in script() if one.corpus == corpus]
            model = ScriptModel(mine)
            for one, prediction in zip(mine, asyncio.run(answers(index, mine, model, recorded)), strict=True):
                right = "ok" if prediction.answer == one.expected else f"NOT {one.expected!r}"
                problem = prediction.error or ("" if prediction.grounded in (True, None) else "not grounded")
                _say(f"{corpus}: {one.question}\n    {prediction.answer} {right} {problem}".rstrip())
            _pack(recorded, corpus)
            _say(f"{corpus}: {model.asked} replies recorded")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()

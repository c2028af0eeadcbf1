"""HiREC's generator over scripted replies: the program's result or the chain's last sentence is the answer."""

from __future__ import annotations

import pytest

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.roles import Curation
from finray.core.settings import SandboxSettings
from finray.hirec.published_answerer import Generation, PublishedAnswerer, program_of
from finray.question.rule_reader import PlainReader, with_text
from finray.sandbox.runner import Sandbox
from tests.scripted_chat import ScriptedChatModel

GROWTH = "What was Acme's revenue growth in fiscal 2022?"
WHY = "Why did margins rise at Acme?"
PASSAGES = (
    Passage("ACME_10K", "f", 40, 0, 10, "Total revenue (in millions)  $ 1,577  $ 1,400", 1.0),
    Passage("ACME_10K", "f", 12, 0, 10, "Gross margin rose because freight rates fell.", 1.0),
)
BODY = "    new = 1577\n    old = 1400\n    answer = (new - old) / old * 100\n    return answer"
SOLUTION = f"def solution():\n{BODY}"


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return Sandbox(SandboxSettings(isolation="process"))


async def answered(
    sandbox: Sandbox,
    reply: str,
    question: str = GROWTH,
    generation: Generation = "auto",
    journal: Journal | None = None,
    passages: tuple[Passage, ...] = PASSAGES,
) -> tuple[Answer, ScriptedChatModel]:
    model = ScriptedChatModel(lambda _: reply)
    answerer = PublishedAnswerer(model, sandbox, {"f": "Acme 10-K FY 2022"}, generation)
    query = await PlainReader().read(question, Journal())
    return await answerer.answer(query, Curation(passages, True), journal or Journal()), model


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{SOLUTION}\n```",
        f"Here is the program:\n```python\nimport math\n\n{SOLUTION}\n\nprint(solution())\n```\nIt returns the growth.",
        f"{BODY}\n```",
        BODY,
        BODY.lstrip(),
        f"```python\n{BODY.lstrip()}\n```",
        f"```python\n{SOLUTION}",
        f"```\n{SOLUTION.replace('    return answer', '    import math') + chr(10)}    return math.fabs(answer)\n```",
    ],
    ids=[
        "fenced",
        "with more",
        "continued",
        "bare body",
        "first line bare",
        "first line bare, fenced",
        "no end",
        "math",
    ],
)
async def test_the_returned_value_of_the_program_is_the_answer(sandbox: Sandbox, reply: str) -> None:
    journal = Journal()
    answer, model = await answered(sandbox, reply, journal=journal)
    assert answer.value == pytest.approx(12.642857)
    assert (answer.status, answer.text, answer.unit, answer.grounded) == ("answered", "12.64285714", None, True)
    assert answer.evidence == PASSAGES
    assert answer.program is not None and "1577" in answer.program
    system, user = model.calls[0]
    assert "generate a Python program" in system.content
    assert "Sources: Acme 10-K FY 2022 - Total revenue" in user.content
    assert journal.unusable == {}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("if 1577 > 1400:\n        return 'up'\n    return 'down'", "up"),
        ("if 1577 < 1400:\n        return 1\n    elif 2 < 1:\n        return 2\n    else:\n        return 3", "3"),
        ("return 1577 > 1400", "True"),
    ],
)
async def test_programs_that_return_early_or_words(sandbox: Sandbox, body: str, text: str) -> None:
    answer, _ = await answered(sandbox, f"```python\ndef solution():\n    {body}\n```")
    assert answer.text == text


async def test_a_figure_that_no_passage_prints_is_noticed_and_changes_no_word(sandbox: Sandbox) -> None:
    answer, _ = await answered(sandbox, SOLUTION.replace("1400", "1234.5"))
    assert answer.grounded is False
    assert answer.text == "27.74402592"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot answer this.",
        "```python\ndef solution():\n    return None\n```",
        "```python\ndef solution():\n    import os\n    return os.listdir('/')\n```",
        "```python\ndef solution():\n    for x in [1, 2]:\n        return x\n```",
        "```python\ndef solution():\n    return 1 / 0\n```",
        "```python\ndef solution():\n    return [1577]\n```",
    ],
    ids=["empty", "prose", "nothing", "hostile", "in a loop", "fails", "list"],
)
async def test_an_unusable_program_is_counted_and_an_error(sandbox: Sandbox, reply: str) -> None:
    journal = Journal()
    with pytest.raises(ModelReplyError, match="answer: "):
        await answered(sandbox, reply, journal=journal)
    assert journal.unusable == {"answer": 1}


async def test_a_chain_of_thought_ends_with_the_answer(sandbox: Sandbox) -> None:
    reply = "First, the answer is not obvious. Freight rates fell.\nTherefore, the answer is lower freight rates."
    answer, model = await answered(sandbox, reply, WHY)
    assert (answer.text, answer.value, answer.program) == ("lower freight rates.", None, None)
    assert (answer.status, answer.grounded, answer.evidence) == ("answered", True, PASSAGES)
    assert model.calls[0][1].content.endswith("Let’s think step by step to answer the given question.")


async def test_a_chain_without_its_last_sentence_is_the_answer_itself(sandbox: Sandbox) -> None:
    answer, _ = await answered(sandbox, "Freight rates fell.", WHY)
    assert answer.text == "Freight rates fell."
    with pytest.raises(ModelReplyError, match="empty"):
        await answered(sandbox, " \n", WHY)


async def test_the_question_decides_the_style_and_not_its_rewriting(sandbox: Sandbox) -> None:
    growth = await PlainReader().read(GROWTH, Journal())
    answerer = PublishedAnswerer(ScriptedChatModel(lambda _: SOLUTION), sandbox, {"f": "Acme 10-K"}, "auto")
    rewritten = with_text(growth, "reasons for the change of revenue, annual report")
    assert "words" in rewritten.intents
    answer = await answerer.answer(rewritten, Curation(PASSAGES, True), Journal())
    assert answer.value == pytest.approx(12.642857)


async def test_the_style_can_be_set(sandbox: Sandbox) -> None:
    answer, _ = await answered(sandbox, SOLUTION, WHY, "program")
    assert answer.value is not None
    answer, _ = await answered(sandbox, "Therefore, the answer is 12.6%.", GROWTH, "chain")
    assert (answer.text, answer.value) == ("12.6%.", None)


async def test_no_rule_refuses_before_the_model_is_asked(sandbox: Sandbox) -> None:
    answer, model = await answered(sandbox, "Therefore, the answer is unknown.", WHY, passages=())
    assert (answer.status, answer.text) == ("answered", "unknown.")
    assert len(model.calls) == 1


def test_the_last_whole_function_of_a_reply_counts() -> None:
    reply = f"```python\nx = 1\n```\nor\n```python\n{SOLUTION}\n```"
    assert program_of(reply) == SOLUTION

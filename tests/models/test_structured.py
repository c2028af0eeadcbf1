"""Replies of models that are not held to a schema: what can be read is read, the rest is nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.models.structured import format_instructions, read_structured

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "relevant_ids": {"type": "array", "items": {"type": "integer"}, "title": "Relevant passages"},
        "answerable": {"type": "boolean"},
        "missing": {"type": "string"},
        "value": {"type": ["number", "null"]},
    },
    "required": ["relevant_ids", "answerable"],
}


def read(text: str) -> dict[str, Any] | None:
    return read_structured(text, SCHEMA)


def test_sections_as_the_paper_asks_for_them() -> None:
    text = (
        "Let me think.\n## Relevant passages\n[1, 4]\n\n##Answerable: No\n## Missing:\nrevenue of 2021\n## value\nnull"
    )
    assert read(text) == {"relevant_ids": [1, 4], "answerable": False, "missing": "revenue of 2021", "value": None}


@pytest.mark.parametrize(
    "text",
    [
        '{"relevant_ids": [1], "answerable": true}',
        '```json\n{"relevant_ids": [1], "answerable": true}\n```',
        'Here it is: {"relevant_ids": [1], "answerable": true} - I hope it helps.',
        "## relevant_ids\n- 1\n## answerable\nyes, it is",
        "### Relevant IDs:\n1\n# ANSWERABLE #\nTrue".replace("Relevant IDs", "relevant ids"),
        "## relevant_ids: 1\n## answerable: yes\n## conclusion\nnone of our headings",
    ],
)
def test_json_and_sections_in_many_forms(text: str) -> None:
    found = read(text)
    assert found is not None
    assert (found["relevant_ids"], found["answerable"]) == ([1], True)


@pytest.mark.parametrize("text", ["none", "[]", "None.", ""])
def test_no_passage_is_an_empty_list(text: str) -> None:
    assert read(f"## relevant_ids\n{text}\n## answerable\nno") == {
        "relevant_ids": [],
        "answerable": False,
        "missing": "",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure!",
        "## answerable\nyes",
        "## relevant_ids\n1\n## answerable\nperhaps",
        "## relevant_ids\nthe first two\n## answerable\nyes",
        '{"relevant_ids": [1]}',
        '{"relevant_ids": [1], "answerable": tru',
        "{" * 100_000,
        "[" * 100_000 + "{}",
        "#" * 100_000,
    ],
    ids=lambda text: text[:30],
)
def test_what_lacks_a_required_part_is_nothing(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(("text", "value"), [("1,577.5", 1577.5), ("$ 12", 12.0), ("-3.5 %", -3.5), ("n/a", None)])
def test_numbers(text: str, value: float | None) -> None:
    found = read(f"## relevant_ids\n1\n## answerable\nyes\n## value\n{text}")
    assert found is not None
    assert found["value"] == value


def test_a_program_is_taken_out_of_its_fence() -> None:
    schema = {"properties": {"program": {"type": "string"}}, "required": ["program"]}
    assert read_structured("## program\n```python\nx = 1\nanswer = x\n```", schema) == {"program": "x = 1\nanswer = x"}


def test_texts_of_a_list_are_paragraphs_or_points() -> None:
    schema = {"properties": {"passages": {"type": "array", "items": {"type": "string"}}}, "required": ["passages"]}
    assert read_structured("## passages\nOne two.\n\nThree.", schema) == {"passages": ["One two.", "Three."]}


def test_the_instructions_name_every_part_and_can_be_followed() -> None:
    form = format_instructions(SCHEMA)
    assert [line for line in form.splitlines() if line.startswith("##")] == [
        "## relevant_ids", "## answerable", "## missing", "## value",
    ]  # fmt: skip


@given(st.text(max_size=200), st.booleans())
def test_any_text_is_read_or_is_nothing(text: str, as_section: bool) -> None:
    found = read(f"## relevant_ids\n{text}\n## answerable\nyes" if as_section else text)
    assert found is None or json.dumps(found)

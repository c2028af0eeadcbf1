"""Searching with imagined passages; the model is a script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.index.reading.reader import IndexReader
from finray.models.chat import Message
from tests.scripted_chat import ScriptedChatModel

from .conftest import Build

LEASES = "operating lease commitments that had not yet commenced, undiscounted future payments"
WORDS = ("tax benefits", "net income", "total assets", "lease")


@pytest.mark.parametrize("name", ["hyde", "multi_hyde"])
async def test_the_imagined_passage_is_what_is_searched_for(search_with: Build, reader: IndexReader, name: str) -> None:
    annual = next(f for f in reader.filings() if f.form == "10-K")
    chunk = reader.chunks([annual.filing_id], ["page", "start", "text"]).to_pylist()[7]
    model = ScriptedChatModel(lambda messages: {"passages": [chunk["text"]]})
    parameters = {f"methods__{name}__with_question": False}
    found = await search_with(name, model, **parameters)("anything", k=20)
    assert found[0].score == pytest.approx(1.0, abs=1e-4)
    assert chunk["text"] in {p.text for p in found}


async def test_tokens_are_spent_under_the_name_of_the_method(search_with: Build) -> None:
    for name in ("hyde", "multi_hyde"):
        journal = Journal()
        await search_with(name)("What leases?", journal=journal)
        assert set(journal.usage) == {name}
        assert journal.usage[name].prompt_tokens > 0


async def test_several_passages_are_asked_for_in_one_call(search_with: Build) -> None:
    model = ScriptedChatModel(lambda messages: {"passages": list(WORDS)})
    await search_with("multi_hyde", model)("What leases?")
    assert len(model.calls) == 1
    assert "4 different passages" in model.calls[0][0].content


async def test_the_order_of_imagined_passages_does_not_matter(search_with: Build) -> None:
    found = []
    for passages in (WORDS, WORDS[::-1]):
        model = ScriptedChatModel(partial(_reply, passages))
        found.append([(p.filing_id, p.page, p.start) for p in await search_with("multi_hyde", model)("q", k=3)])
    assert found[0] == found[1]


@pytest.mark.parametrize("passages", [[], ["", "  "], "text", [1], None])
async def test_a_reply_without_passages_is_an_error(search_with: Build, passages: object) -> None:
    model = ScriptedChatModel(lambda messages: {"passages": passages})
    with pytest.raises(ModelReplyError, match="hyde"):
        await search_with("hyde", model)("What leases?")


def _reply(passages: Sequence[str], messages: Sequence[Message]) -> dict[str, object]:
    return {"passages": list(passages)}

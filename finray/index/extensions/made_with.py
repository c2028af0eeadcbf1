"""What the record of an extension says of the models that made its rows.

A revision is recorded only if one is set, so that records from before there were revisions stay valid.
"""

from __future__ import annotations

from finray.core.settings import EncoderSettings, LlmSettings
from finray.core.settings.hashes import without_default_revisions


def encoder_record(encoder: EncoderSettings) -> dict[str, str | int]:
    """The settings of an encoder that change its vectors of passages."""
    recorded = {"model", "revision", "max_tokens", "passage_prefix"}
    return without_default_revisions(encoder.model_dump(include=recorded))


def llm_record(llm: LlmSettings) -> dict[str, str | int]:
    """The language model, with its revision if vLLM loads it: a server does not take one."""
    revision = llm.identity().get("revision")
    return {"llm": llm.model} | ({"llm_revision": revision} if revision else {})

"""Models of the shapes that the paper uses, with random weights, and a tokenizer trained on the texts at hand: speed
depends on shapes, not on weights, so a machine without a network can measure it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    XLMRobertaConfig,
    XLMRobertaModel,
)

_SPECIAL = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
_CHAT_TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"


@dataclass(frozen=True, slots=True)
class Shape:
    """Of a transformer. ``vocabulary`` rows have embeddings, whether or not the tokenizer uses them."""

    hidden: int
    layers: int
    heads: int
    vocabulary: int

    @property
    def about(self) -> dict[str, Any]:
        return {
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "intermediate_size": 4 * self.hidden,
            "vocab_size": self.vocabulary,
        }


E5_LARGE = Shape(1024, 24, 16, 250_002)
"""multilingual-e5-large: https://huggingface.co/intfloat/multilingual-e5-large, config.json"""
DEBERTA_LARGE = Shape(1024, 24, 16, 128_100)
"""deberta-v3-large: https://huggingface.co/microsoft/deberta-v3-large, config.json"""
SMALL_LLM = Shape(896, 24, 14, 32_000)
"""About Qwen2.5-0.5B."""
TINY = Shape(32, 2, 4, 4_000)


def save_tokenizer(texts: Sequence[str], folder: Path, *, tokens: int) -> None:
    """A Unigram tokenizer, as that of XLM-R, trained on ``texts``, into ``folder``."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = list(_SPECIAL.values())
    tokenizer.train_from_iterator(
        texts,
        trainers.UnigramTrainer(vocab_size=tokens, special_tokens=special, unk_token="<unk>", show_progress=False),
    )
    ends = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends
    )
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, cls_token="<s>", sep_token="</s>", chat_template=_CHAT_TEMPLATE, **_SPECIAL
    ).save_pretrained(folder)


def save_encoder(shape: Shape, folder: Path, tokenizer: Path) -> None:
    """A sentence-transformers folder with mean pooling."""
    config = XLMRobertaConfig(
        **shape.about, max_position_embeddings=514, type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5
    )
    _save(XLMRobertaModel, config, folder, tokenizer)
    pooling = folder / "1_Pooling"
    pooling.mkdir(exist_ok=True)
    modes = {"word_embedding_dimension": shape.hidden, "pooling_mode_mean_tokens": True}
    (pooling / "config.json").write_text(json.dumps(modes), encoding="utf-8")


def save_reranker(shape: Shape, folder: Path, tokenizer: Path) -> None:
    """A cross-encoder with one score."""
    # The published configuration names more than the class declares.
    more: dict[str, Any] = {
        "position_buckets": 256,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "num_labels": 1,
    }
    config = DebertaV2Config(
        **shape.about,
        **more,
        max_position_embeddings=512,
        relative_attention=True,
        max_relative_positions=-1,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        type_vocab_size=0,
        pad_token_id=1,
    )
    _save(DebertaV2ForSequenceClassification, config, folder, tokenizer)


def save_llm(shape: Shape, folder: Path, tokenizer: Path) -> None:
    """A causal language model that writes random words."""
    ends: dict[str, Any] = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    config = Qwen2Config(
        **shape.about, num_key_value_heads=2, tie_word_embeddings=True, max_position_embeddings=4096, **ends
    )
    _save(Qwen2ForCausalLM, config, folder, tokenizer)


def _save(kind: Any, config: Any, folder: Path, tokenizer: Path) -> None:
    """Weights in bf16. Made where that is fast."""
    torch.manual_seed(0)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = kind(config)
    model.to(torch.bfloat16).cpu().save_pretrained(folder)
    PreTrainedTokenizerFast.from_pretrained(tokenizer).save_pretrained(folder)

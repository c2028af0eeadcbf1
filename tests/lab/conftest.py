from __future__ import annotations

import string

import pytest


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A sentence-transformers folder: BERT of two layers with random weights, and letters as its vocabulary."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("tiny-base")
    letters = string.ascii_lowercase + string.digits
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder / "plain")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder / "plain")
    transformer = Transformer(str(folder / "plain"), max_seq_length=64)
    model = SentenceTransformer(modules=[transformer, Pooling(32)], device="cpu")
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    return str(folder / "model")

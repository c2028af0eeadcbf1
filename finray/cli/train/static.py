"""``finray train static-encoder``: token vectors distilled from a transformer encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from finray.cli.options import JsonOption
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.core.errors import UsageError


def static_encoder(
    index: Annotated[str, typer.Option("--index", help="Index whose texts show how rare each token is.")],
    out: Annotated[Path, typer.Option("--out", help="File to write the token vectors to (.npz).")] = Path(
        "static_encoder.npz"
    ),
    base: Annotated[
        str, typer.Option(help="The encoder: minilm, or a folder with a vocab.txt (WordPiece).")
    ] = "minilm",
    dimension: Annotated[int, typer.Option(min=8, help="Length of the vectors.")] = 128,
    json_: JsonOption = False,
) -> int:
    """Distil an encoder into one vector per token (encoder.model = "static", or the path of the file)."""
    from finray.core.settings import EncoderSettings
    from finray.index.reading.reader import IndexReader
    from finray.lab.training.retrieval.static_encoder import MOST_TEXTS, distil, token_counts, vocabulary
    from finray.models.encoder_loading import load_encoder
    from finray.models.minilm import minilm_folder
    from finray.models.static_encoder import write_token_vectors
    from finray.storage.atomic import replacing

    if out.suffix != ".npz":
        raise UsageError(f"--out {str(out)!r} does not end in .npz, by which encoder.model recognizes the file")
    words = (minilm_folder() if base == "minilm" else Path(base)) / "vocab.txt"
    try:
        tokens = vocabulary(words.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the vocabulary {str(words)!r}: {error}") from error
    texts = IndexReader.open(index).chunks(None, ["text"])["text"].to_pylist()
    counts = token_counts(tokens, texts)
    with progress_bar(err, "distilling") as report:
        table = distil(load_encoder(EncoderSettings(model=base)), tokens, counts, dimension, report)
    with replacing(out) as unfinished, unfinished.open("wb") as stream:
        write_token_vectors(stream, table)
    record = {
        "model": str(out),
        "base": base,
        "tokens": len(tokens),
        "dimension": table.vectors.shape[1],
        "counted_texts": min(len(texts), MOST_TEXTS),
        "counted_tokens": int(counts.sum()),
        "bytes": out.stat().st_size,
    }
    emit(record, f"wrote {out}: {len(tokens):,} tokens, {record['dimension']} components", as_json=json_)
    return 0

"""``finray train item-lexicon`` and ``page-ranker``: what ranks the pages of a filing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finray.cli.options import JsonOption, SetOption, overrides_of
from finray.cli.output import emit
from finray.cli.train.fitting import (
    L2,
    Data,
    Indexes,
    ModelOut,
    Questions,
    figures_table,
    finish,
    gathered,
    sources_or_data,
    weights_table,
    write_model,
)
from finray.core.errors import UsageError
from finray.core.settings import load_settings

if TYPE_CHECKING:
    from finray.lab.training.retrieval.page_ranker import RankedQuestion

_KS = (1, 5, 10, 20)


def item_lexicon(
    index: Annotated[str, typer.Option("--index", help="Index of at least a hundred annual and quarterly reports.")],
    out: Annotated[Path, typer.Option("--out", help="File to write the lexicon to.")] = Path("item_lexicon.json"),
) -> int:
    """Learn which SEC Items use which words (finray/retrieval/item_lexicon.json, one feature of the page model)."""
    from finray.index.reading.reader import IndexReader
    from finray.lab.training.retrieval.item_lexicon import MIN_FILINGS, MIN_PAGES, index_item_lexicon, item_lexicon_json

    lexicon = index_item_lexicon(IndexReader.open(index))
    if not lexicon:
        raise UsageError(
            f"the index at {index!r} is too small to learn from: no word occurs on {MIN_PAGES} pages of {MIN_FILINGS} "
            "annual and quarterly reports"
        )
    write_model(out, item_lexicon_json(lexicon))
    emit(lexicon, f"wrote {out}: {len(lexicon):,} words", as_json=False)
    return 0


def page_ranker(
    questions: Questions = None,
    index: Indexes = None,
    data: Data = Path("page_model_data.npz"),
    out: ModelOut = Path("page_model.json"),
    l2: L2 = 2.0,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> int:
    """Fit the small model that weighs the features of pages (the ranking of the method "finray").

    Indexes of another encoder need its setting, such as --set encoder.model=minilm.
    """
    from finray.lab.training.retrieval.page_ranker import fit
    from finray.lab.training.retrieval.page_ranking_data import (
        RankingData,
        load_ranking_data,
        ranking_data,
        save_ranking_data,
    )
    from finray.models.encoder import QueryCache
    from finray.models.encoder_loading import load_encoder
    from finray.retrieval.page_features import FEATURES
    from finray.retrieval.page_model import page_model_json

    if sources := sources_or_data(questions, index, data):
        settings = load_settings("local", overrides_of(set_))
        encoder = QueryCache(load_encoder(settings.encoder, threads=1))
        parts = list(
            gathered(
                lambda asked, engine, source, progress: ranking_data(asked, engine, encoder, source, progress),
                sources,
                settings,
                encoder,
            )
        )
        examples = RankingData(
            tuple(question for part in parts for question in part.given),
            tuple(question for part in parts for question in part.end_to_end),
        )
        save_ranking_data(data, examples)
    else:
        examples = load_ranking_data(data)
    held_out = {
        "gold filing given": _held_out_recall(examples.given, examples.end_to_end, l2),
        "end to end": _held_out_recall(examples.end_to_end, examples.given, l2),
    }
    groups = len({question.group for question in examples.given})
    trained = {"questions": len(examples.given), "groups": groups, "l2": l2, "held_out": held_out}
    weights = fit([*examples.given, *examples.end_to_end], l2)
    recalls = (
        (f"{source}, {setting}", *figures.values())
        for setting, sources_ in held_out.items()
        for source, figures in sources_.items()
    )
    return finish(
        out,
        page_model_json(weights, trained),
        trained,
        figures_table("Page recall on held-out companies", ("questions", *(f"@{k}" for k in _KS)), recalls),
        weights_table("feature", FEATURES, weights),
        f"wrote {out} from {len(examples.given)} questions of {groups} companies",
        as_json=json_,
    )


def _held_out_recall(
    scored: Sequence[RankedQuestion], also: Sequence[RankedQuestion], l2: float
) -> dict[str, dict[str, str]]:
    """Source -> ``page_recall@k`` -> estimate; each company is ranked by weights fitted without it."""
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.retrieval.page_ranker import held_out_recall

    recalls = held_out_recall(scored, also, l2, _KS)
    by_source: dict[str, list[Sequence[float]]] = {}
    for qid, recall in recalls.items():
        by_source.setdefault(qid.partition(":")[0], []).append(recall)
    return {
        source: {f"page_recall@{k}": shown(estimate([row[at] for row in rows])) for at, k in enumerate(_KS)}
        for source, rows in by_source.items()
    }

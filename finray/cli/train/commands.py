"""``finray train ...`` and jobs/train_*.py: the commands in the order of ``--help``."""

from __future__ import annotations

import typer

from finray.cli.train.answers import confidence, sentences
from finray.cli.train.choices import figure_choice, row_words, table_reader
from finray.cli.train.evidence import company_choice
from finray.cli.train.fine_tuning import gain, page_scorer, reranker
from finray.cli.train.matches import filing_match, row_match
from finray.cli.train.pages import item_lexicon, page_ranker
from finray.cli.train.plans import plan_samples, plan_writer
from finray.cli.train.questions import question_model
from finray.cli.train.rows import row_reader
from finray.cli.train.signs import printed_sign
from finray.cli.train.static import static_encoder

app = typer.Typer(
    no_args_is_help=True,
    help="Fine-tune the page scorer and the reranker on questions with evidence, fit small models, and measure gains.",
)
for _command in (
    page_scorer,
    reranker,
    item_lexicon,
    page_ranker,
    confidence,
    filing_match,
    row_match,
    table_reader,
    row_words,
    figure_choice,
    company_choice,
    question_model,
    row_reader,
    printed_sign,
    static_encoder,
    sentences,
    plan_samples,
    plan_writer,
    gain,
):
    app.command()(_command)

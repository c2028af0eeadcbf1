"""What a researcher uses and an operator never imports: sample filings, datasets, evaluation, training, comparison."""

"""What a question measures: metrics, formulas, phrases and units."""

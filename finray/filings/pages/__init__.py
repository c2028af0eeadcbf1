"""Parts of a filing: Items, headings, sentences and chunks."""

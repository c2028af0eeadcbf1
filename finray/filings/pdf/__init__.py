"""PDF filings: text, printed lines, tables and OCR."""

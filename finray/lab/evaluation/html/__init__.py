"""The report as one self-contained HTML file: no script, no font, no network."""

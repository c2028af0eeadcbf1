"""Questions with exact answers from the inline XBRL tags of EDGAR filings."""

"""Tables of filings: rows, columns, periods, units and line items."""

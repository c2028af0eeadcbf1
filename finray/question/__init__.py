"""The vocabulary of accounting: line items, named metrics as formulas, and the arithmetic between them."""

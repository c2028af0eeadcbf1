"""Plans that a small language model writes over the rows of retrieved tables; exact code finds the cells and computes.

No figure passes through the model: it sees labels and heads with ids (``sheet``), and writes an expression over ids
(``language``). ``answerer`` computes it, docs/plans.md has the grammar.
"""

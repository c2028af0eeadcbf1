"""Which row or column of a table is the largest, grew fastest, fell most: groups of comparable cells, their rankings,
and the choice of the one that a question asks for."""

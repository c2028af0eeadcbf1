"""Whether an answer in words means what the gold answer says: judges, their judgements, and how far to trust them."""

"""From the text of a question to what it asks for: companies, periods, forms, metrics, and plans to compute them."""

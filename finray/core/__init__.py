"""What everything may import: types, errors, settings, the journal and the roles. Imports nothing else of finray."""

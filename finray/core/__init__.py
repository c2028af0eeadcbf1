"""What everything may import: types, records, replies, errors, settings, journal and roles."""

"""Shared by all rooms: types, records, replies, errors, settings, journal and roles."""

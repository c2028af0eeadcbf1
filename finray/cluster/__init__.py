"""The thin Ray layer; nothing else in the library imports ray."""

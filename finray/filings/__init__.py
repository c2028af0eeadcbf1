"""Bytes of a filing -> pages, cover facts, chunks, statements and line items."""

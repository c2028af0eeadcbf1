"""Fits what finds companies, filings and pages, and distils the static encoder."""

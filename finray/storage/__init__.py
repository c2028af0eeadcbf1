"""Locations on disk and S3, atomic files, commits to Lance tables."""

"""Batches of questions: files that keys upload, and runs of the bulk driver over them that survive a restart."""

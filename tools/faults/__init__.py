"""Fault injection, shared by the tests in tests/faults and the long run (python -m tools.faults)."""

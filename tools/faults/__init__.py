"""Faults, done for real: what the tests of tests/faults and the long run (python -m tools.faults) share."""

"""Reproducible ids and draws from SHA-256, for generated questions."""

from __future__ import annotations

import hashlib


def hashed_qid(prefix: str, identity: str) -> str:
    """``prefix`` and 16 hex digits of ``identity``."""
    return f"{prefix}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def hashed_share(key: str) -> float:
    """A number from 0 to 1 (exclusive) that depends on ``key`` alone, to split companies into parts."""
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) / 2**32

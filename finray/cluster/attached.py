"""Finds out whether there is a Ray cluster to use, without importing Ray, which takes seconds."""

from __future__ import annotations

import os
import sys


def has_cluster() -> bool:
    """Whether a cluster is named to attach to, as inside ``ray job submit``."""
    return bool(os.environ.get("RAY_ADDRESS"))


def is_attached() -> bool:
    """Whether there is such a cluster, or this process is connected to Ray already."""
    ray = sys.modules.get("ray")
    return has_cluster() or (ray is not None and bool(ray.is_initialized()))

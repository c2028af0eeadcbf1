"""Attaches to a running Ray cluster, or starts a small local one."""

from __future__ import annotations

import ctypes
import logging
import os
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import ray
import ray.data

from finray.cluster.attached import has_cluster
from finray.cluster.watch import watched
from finray.core.errors import FinrayError

_OBJECT_STORE_BYTES = 512 * 1024**2
"""Shared memory of a local cluster: filings in flight take a few MB each, and Ray Data waits when it is full."""

_LOG_LEVEL = "RAY_BACKEND_LOG_LEVEL"
_CPP_LOG_LEVEL = "_ZN3ray6RayLog19severity_threshold_E"
_FATAL = 3  # ray::RayLogLevel::FATAL
_TOKENS = frozenset({"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"})
_TOKEN_NOTICE = "ray._private.authentication.authentication_token_setup"
_NO_CLUSTER = (OSError, RuntimeError, ValueError, ray.exceptions.RayError)
_LOCAL_VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # a user waits for this command
    # Parsing pauses while embedding catches up; an idle worker that is killed meanwhile loses its parser.
    "RAY_idle_worker_killing_time_threshold_ms": "600000",
    # By default a node that does not answer for some 25 s counts as lost, even the only one, while a hundred processes
    # want its processors. If it really dies, its processes notice (finray.cluster.watch).
    "RAY_health_check_timeout_ms": "120000",
}
"""Environment of a local cluster; the user's own variables take precedence."""


class ClusterError(FinrayError):
    """No Ray cluster could be reached or started."""


@contextmanager
def ray_cluster(*, num_cpus: int | None = None, show: bool = False, running: bool = False) -> Iterator[None]:
    """Connect to Ray for the block. ``show`` lets Ray and Ray Data report on standard error.

    Uses an existing connection, or attaches to the cluster at ``RAY_ADDRESS`` (always set inside ``ray job submit``),
    with ``running`` also to one on this machine. Otherwise starts a local cluster with ``num_cpus`` (default: all),
    which ends with the block.

    Raises ClusterError. If a cluster that this attached to or started is gone for good, the process exits
    (finray.cluster.watch).
    """
    if ray.is_initialized():
        _show_ray_data(show)
        yield
        return
    own = not (has_cluster() or running)
    if own:
        _start_local(show, num_cpus)
    else:
        attach(show=show)
    _show_ray_data(show)
    try:
        with watched(own_cluster=own):
            yield
    finally:
        ray.shutdown()


def attach(*, show: bool = False) -> None:
    """Connect to the cluster at ``RAY_ADDRESS``, else to one on this machine; start none. Raises ClusterError."""
    _connect(show, address=os.environ.get("RAY_ADDRESS") or "auto")


def _start_local(show: bool, num_cpus: int | None) -> None:
    """Start a cluster on this machine and connect to it.

    Ray listens on all interfaces and runs any code that it receives, so only this process and its children know the
    token.
    """
    # Ray requires a token unless RAY_AUTH_MODE disables it. Without one in the environment it would write one to the
    # home folder, and a later `ray start` and its clients would disagree about it.
    if not _TOKENS & os.environ.keys():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    logging.getLogger(_TOKEN_NOTICE).setLevel(logging.ERROR)
    for name, value in _LOCAL_VARIABLES.items():
        os.environ.setdefault(name, value)
    if _LOG_LEVEL not in os.environ:
        os.environ[_LOG_LEVEL] = "fatal"  # Ray's C++ side logs its internals to the terminal
        _silence_startup()
    _connect(
        show,
        address="local",  # else Ray looks for another cluster on this machine
        num_cpus=num_cpus,
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        _node_ip_address="127.0.0.1",
    )


def _silence_startup() -> None:
    """Set the log level of Ray's C++ side before it reads the variable, which it logs at level INFO."""
    with suppress(ValueError):  # some builds of Ray do not export the variable
        ctypes.c_int.in_dll(ctypes.CDLL(ray._raylet.__file__), _CPP_LOG_LEVEL).value = _FATAL


def _connect(show: bool, **options: Any) -> None:
    try:
        with warnings.catch_warnings():
            # Lance warns about any fork, but Ray's are followed by an exec.
            warnings.filterwarnings("ignore", message="lance is not fork-safe")
            ray.init(logging_level=logging.INFO if show else logging.WARNING, log_to_driver=show, **options)
    except Exception as error:  # Ray raises a bare Exception if a node starts too slowly
        if type(error) is not Exception and not isinstance(error, _NO_CLUSTER):
            raise
        where = "on this machine" if options["address"] == "local" else f"at {options['address']!r}"
        raise ClusterError(
            f"cannot use Ray {where}: {error}. Check RAY_ADDRESS and RAY_AUTH_MODE, or unset RAY_ADDRESS to start a "
            "local cluster; free memory and space under /tmp are needed"
        ) from error


def _show_ray_data(show: bool) -> None:
    """Turn Ray Data's progress bars, plans and warnings on or off; they would bury finray's progress."""
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = show
    context.enable_operator_progress_bars = show
    context.print_on_execution_start = show
    logging.getLogger("ray.data").setLevel(logging.INFO if show else logging.ERROR)

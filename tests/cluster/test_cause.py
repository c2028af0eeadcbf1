"""A failed worker is one line for the user, not the tracebacks of three processes."""

from __future__ import annotations

from ray.exceptions import RayError

from finray.cluster.cause import cause_of

DIED = """The actor died because of an error raised in its creation task, \x1b[36mray::MapWorker\x1b[39m (pid=8902)
  File "/site-packages/transformers/utils/import_utils.py", line 2935, in _get_module
    raise e
ModuleNotFoundError: No module named 'sympy'

The above exception was the direct cause of the following exception:

\x1b[36mray::MapWorker.__init__()\x1b[39m (pid=8902, ip=127.0.0.1)
    raise ModelUnavailableError(
finray.core.errors.ModelUnavailableError: cannot load the encoder '/models/minilm': no module 'sympy'
is installed"""


def test_the_cause_is_the_last_exception() -> None:
    assert cause_of(RayError(DIED)) == (
        "ModelUnavailableError: cannot load the encoder '/models/minilm': no module 'sympy' is installed"
    )


def test_text_without_an_exception_is_kept() -> None:
    killed = "Task was killed: the node runs low on memory.\nRefer to: the documentation"
    assert cause_of(RayError(killed)) == (
        "RayError: Task was killed: the node runs low on memory. Refer to: the documentation"
    )

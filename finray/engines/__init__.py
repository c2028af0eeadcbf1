"""Engines in child processes, under a watchdog: all questions are answered here.

A question is hostile, and work on it may never end: a loop, a regular expression or a C library can hold the
interpreter lock, and no thread of the same process can stop that. So an engine runs in a child (``child``), and its
caller is the parent: the replica that serves HTTP, the Ray worker of a bulk run, a command. The parent only passes
messages (``messages``, ``process``), so it stays responsive whatever the child does. A question that exceeds its time,
or that nobody waits for, is first asked to stop, which it does at its next stage; otherwise the parent kills the child
and starts another (``pool``). Questions that shared the child are retried.

The parent calls models in Ray Serve replicas for the child (``outside``), so the child needs no Ray. A child does not
outlive its parent; the kernel ensures that (PR_SET_PDEATHSIG).
"""

"""Engines in child processes, under a watchdog: all questions are answered here.

A question is hostile, and work on it may never end: a loop, a regular expression or a C library can hold the
interpreter lock, and no thread of the same process can stop that. So an engine runs in a child (``child``). Its parent
is the replica that serves HTTP, the Ray worker of a bulk run, or a command. The parent only passes messages
(``messages``, ``process``), so it stays responsive whatever the child does. If a question exceeds its time or its
caller gives up, the parent cancels it, which takes effect at its next stage; if that fails, the parent kills the child
and starts another (``pool``). Questions that shared the child are retried.

The parent calls models in Ray Serve replicas for the child (``outside``), so the child needs no Ray. A child does not
outlive its parent; the kernel ensures that (PR_SET_PDEATHSIG).
"""

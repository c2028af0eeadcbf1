"""Engines in processes of their own, under a watchdog: the one place from which questions are worked on.

A question is hostile, and what works on it may never end: a loop, a regular expression or a C library that holds the
interpreter lock. No thread of the same process can end that, so an engine runs in a child (``child``), and whoever asks
it is the parent: the replica that serves HTTP, the Ray worker of a bulk run, a command. The parent only passes messages
(``messages``, ``process``), so it goes on whatever the child does. A question that is over its time, or that nobody
waits for any more, is first asked to stop, which it does at its next stage; when it does not, the parent kills the
child and starts another (``pool``). Questions that shared the child are asked again.

Models that run elsewhere, in Ray Serve replicas, are asked by the parent for the child (``outside``), so the child
needs no Ray. A child does not outlive its parent, which the kernel sees to (PR_SET_PDEATHSIG).
"""

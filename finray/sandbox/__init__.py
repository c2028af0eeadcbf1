"""Runs programs of thought: short programs that a language model wrote, which nobody has read.

There is no ``exec`` anywhere. A program is a syntax tree that our own evaluator walks, and the only values it can
make are numbers, texts, lists, tuples and dicts of them: no object has attributes, nothing can be imported, and a
function is one of some forty names, never a value. So the first layer alone leaves a program nothing to reach. The
others are there in case that layer, or the Python parser under it, has a bug. From inside to outside:

1. the language (``language``, ``interpreter``): an allow-list of syntax, and budgets for steps, sizes and digits;
2. a child process of its own (``confined``, ``child``, ``lockdown``) without environment, site packages or open files,
   under hard rlimits on memory, processor time, files, processes and core dumps, killed as a group after two seconds;
3. what the child puts on itself before it reads the program: Landlock (``file_access``), under which no file can be
   opened, and a seccomp filter (``system_calls``; Linux on x86-64 and arm64), under which it may read, write, allocate
   memory and exit, so there are no files, sockets or processes for it;
4. where ``bwrap`` is installed, bubblewrap's namespaces around the child: an empty network, no file but Python's own;
   or, where ``sandbox.isolation`` is "wasi", a WebAssembly runtime in place of 2 to 4.

``finray doctor`` shows which are active on a machine and tries to break out of them. What runs in the child imports
nothing but the standard library and its own modules.

Parsers and the drawing of pages (``reader``) are confined by 2 and 3 as well, but may read installed files.
``provenance`` follows where the numbers of a program come from.
"""

"""Runs programs of thought: short, unreviewed programs that a language model wrote.

There is no ``exec``. A program is a syntax tree that our own evaluator walks, and its only values are numbers, texts,
and lists, tuples and dicts of them. No object has attributes, nothing can be imported, and a function is one of some
forty names, never a value, so the first layer alone leaves nothing to attack. The others guard against a bug in that
layer or in the Python parser below it. From the inside out:

1. the language (``language``, ``interpreter``): an allow-list of syntax, and budgets for steps, sizes and digits;
2. a child process (``confined``, ``child``, ``lockdown``) without environment, site packages or open files, under hard
   rlimits on memory, processor time, files, processes and core dumps, killed as a group after two seconds;
3. restrictions that the child applies to itself before it reads the program: Landlock (``file_access``), which forbids
   opening any file, and a seccomp filter (``system_calls``; Linux on x86-64 and arm64), which allows it to read, write,
   allocate memory and exit, so there are no files, sockets or processes for it;
4. if ``bwrap`` is installed, bubblewrap's namespaces around the child: an empty network, and only Python's own files;
   or, if ``sandbox.isolation`` is "wasi", a WebAssembly runtime instead of 2 to 4.

``finray doctor`` shows which layers are active on a machine and tries to break out of them. The child imports only the
standard library and its own modules.

Layers 2 and 3 also confine parsers and page renderers (``reader``), which may read installed files. ``provenance``
tracks where the numbers of a program come from.
"""

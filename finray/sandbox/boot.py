"""Starts a module in a process that trusts neither its working folder nor its environment:

    python -I -S boot.py FOLDERS MODULE ARGUMENT...

``-I -S`` leave only the standard library on ``sys.path``. ``finray`` is the package that contains this file, so it need
not be installed, and nothing beside that package can be imported. FOLDERS (joined by ``os.pathsep``) hold the installed
packages that MODULE needs; its ``main`` gets the arguments.
"""

# ruff: noqa: PTH100, PTH118, PTH120  # pathlib would take a sixth of the startup time
from __future__ import annotations

import importlib
import importlib.util
import os
import sys


def load_package(name: str, folder: str) -> None:
    """Import the package in ``folder`` as ``name``, even if ``sys.path`` has another one."""
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder!r} is not a package")
    package = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _, folders, module, *arguments = sys.argv
    load_package("finray", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path += [folder for folder in folders.split(os.pathsep) if folder]
    importlib.import_module(module).main(arguments)

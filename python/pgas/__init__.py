"""pgas: one-sided communication for GPU kernels, from Python.

    import pgas

    with pgas.join() as world:
        x = world.zeros(4, "float32")
        world.put(x, x + world.my_pe, (world.my_pe + 1) % world.n_pes)
        world.barrier()

An import of the package does not join a world and does not use a GPU. docs/python.md is the guide.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._error import Code as Code, Error as Error

if TYPE_CHECKING:
    from ._core import Memory as Memory
    from ._join import join as join, make_unique_id as make_unique_id
    from ._lists import copy_list as copy_list
    from ._paths import cmake_dir as cmake_dir, include_dirs as include_dirs, library_dir as library_dir
    from ._share import OpenedArray as OpenedArray, Ticket as Ticket, Timeline as Timeline
    from ._share import open as open, opened as opened, share as share, shared_empty as shared_empty
    from ._show_versions import show_versions as show_versions
    from ._stream import CURRENT as CURRENT, Stream as Stream
    from ._team import Team as Team
    from ._world import Context as Context, World as World
    from .nvrtc import compile_options as compile_options

    __version__: str

# The module that defines each name. The module is imported when the name is first used.
_places = {
    "CURRENT": "_stream",
    "Context": "_world",
    "Memory": "_core",
    "OpenedArray": "_share",
    "Stream": "_stream",
    "Team": "_team",
    "Ticket": "_share",
    "Timeline": "_share",
    "World": "_world",
    "cmake_dir": "_paths",
    "compile_options": "nvrtc",
    "copy_list": "_lists",
    "include_dirs": "_paths",
    "join": "_join",
    "library_dir": "_paths",
    "make_unique_id": "_join",
    "open": "_share",
    "opened": "_share",
    "share": "_share",
    "shared_empty": "_share",
    "show_versions": "_show_versions",
}
_modules = ("cupy", "numba", "nvrtc", "torch", "triton")

# `open` is not in the list, because `from pgas import *` would replace Python's function.
__all__ = ["CURRENT", "Code", "Context", "Error", "Memory", "OpenedArray", "Stream", "Team", "Ticket", "Timeline", "World", "cmake_dir", "copy_list",
           "include_dirs", "join", "library_dir", "make_unique_id", "opened", "share", "shared_empty", "show_versions"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("pgas._core").version
    if name in _modules:
        return importlib.import_module(f"pgas.{name}")
    if name not in _places:
        if not name.startswith("_") and hasattr(importlib.import_module("pgas._world").World, name):
            raise AttributeError(f"module 'pgas' has no attribute '{name}'. A world has it: world = pgas.join(), then world.{name}")
        raise AttributeError(f"module 'pgas' has no attribute '{name}'")
    module = importlib.import_module(f"pgas.{_places[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_places, "__version__"])

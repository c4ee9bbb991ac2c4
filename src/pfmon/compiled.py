"""Finds the compiled modules, which are all in one extension file.

Python looks for a file for each: to find, map and link fifty takes a tenth of a short run. One file may hold several
modules, each with an initial function of its own (PEP 489, "Multiple modules in one library").
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import ExtensionFileLoader
from _imp import extension_suffixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, f"_compiled{extension_suffixes()[0]}")
LIST = os.path.join(HERE, "compiled.txt")
"""The names of the modules in it, a line each: written when pfmon is built."""


class Compiled:
    """A finder, as importlib.abc.MetaPathFinder has it."""

    def __init__(self) -> None:
        with open(LIST, encoding="utf-8") as names:
            self._names = frozenset(names.read().split())

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self._names:
            return None
        spec = ModuleSpec(name, ExtensionFileLoader(name, FILE), origin=FILE)
        spec.has_location = True
        return spec


def install() -> None:
    """Find compiled modules from now on. ImportError: pfmon was not built."""
    try:
        sys.meta_path.insert(0, Compiled())
    except OSError:
        raise ImportError(f"pfmon is not built here: there is no {LIST}") from None

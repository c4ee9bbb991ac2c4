"""Import finder of the compiled modules, all of which are in one extension file.

With one file per module, finding, mapping and linking fifty files takes a tenth of a short run. One file may hold
several modules, each with its own init function (PEP 489, "Multiple modules in one library").
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import ExtensionFileLoader
from _imp import extension_suffixes
from collections.abc import Sequence
from types import ModuleType

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, f"_compiled{extension_suffixes()[0]}")
LIST = os.path.join(HERE, "compiled.txt")
"""The names of its modules, one a line; written when pfmon is built."""


class Compiled:
    """An importlib.abc.MetaPathFinder."""

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
    """Install the finder. ImportError: pfmon was not built."""
    try:
        sys.meta_path.insert(0, Compiled())
    except OSError:
        raise ImportError(f"pfmon is not built here: there is no {LIST}") from None

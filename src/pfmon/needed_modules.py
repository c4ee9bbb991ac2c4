"""Modules that a run needs when its guest has started are imported before: afterwards descriptors or memory may be
used up."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module


def import_needed(modules: Mapping[str, object]) -> None:
    """Import the modules, by full name, whose value is true."""
    for name, needed in modules.items():
        if needed:
            import_module(name)

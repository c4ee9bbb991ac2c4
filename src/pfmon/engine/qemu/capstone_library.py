"""The path of the capstone library."""

from __future__ import annotations

import os

from pfmon.errors import PfmonError


def capstone_library() -> str:
    """The path of the library in capstone's package. PfmonError: it is not installed."""
    from importlib.util import find_spec

    found = find_spec("capstone")
    for directory in (found.submodule_search_locations or ()) if found else ():
        path = os.path.join(directory, "lib", "libcapstone.so")
        if os.path.isfile(path):
            return path
    raise PfmonError("capstone, which decodes instructions, is not installed: pip install capstone")

"""The program that a command names."""

import os

from pfmon.errors import PfmonError


def find_program(name: str) -> str:
    """The program's path: as given, or from PATH when there is no slash in it, as a shell does."""
    if "/" in name:
        return name
    from shutil import which  # takes long to load, and most programs are given with a slash

    found = which(name)
    if found is None:
        hint = f"; did you mean ./{name}?" if os.path.exists(name) else ""  # noqa: PTH110 - as typed
        raise PfmonError(f"{name}: not found in PATH{hint}")
    return found

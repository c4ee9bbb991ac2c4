"""The program that a command names."""

import os
import shutil

from pfmon.errors import PfmonError


def find_program(name: str) -> str:
    """The program's path: as given, or from PATH when there is no slash in it, as a shell does."""
    if "/" in name:
        return name
    found = shutil.which(name)
    if found is None:
        hint = f"; did you mean ./{name}?" if os.path.exists(name) else ""  # noqa: PTH110 - as typed
        raise PfmonError(f"{name}: not found in PATH{hint}")
    return found

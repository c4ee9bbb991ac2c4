"""Which program a command names, and the environment that it starts with."""

from __future__ import annotations

import os

from pfmon.errors import PfmonError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.library.options import Options

FIXED_ENVIRONMENT = ["PATH=/usr/bin:/bin", "LANG=C"]


def environment(options: Options) -> list[str]:
    """NAME=VALUE of every variable; later ones replace earlier ones."""
    start = [f"{name}={value}" for name, value in os.environ.items()] if options.host_env else FIXED_ENVIRONMENT
    variables = dict(entry.split("=", 1) for entry in start)
    for entry in options.environment:
        name, equals, value = entry.partition("=")
        if equals:
            variables[name] = value
        elif name in os.environ:
            variables[name] = os.environ[name]
        else:
            raise PfmonError(f"--env={name}: there is no such variable here; --env={name}=VALUE sets one")
    return [f"{name}={value}" for name, value in variables.items()]


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

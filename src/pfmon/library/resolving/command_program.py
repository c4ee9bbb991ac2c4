"""Lookup of a command's program, and construction of its environment."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pfmon.errors import PfmonError
from pfmon.program.sysroot import Sysroot

FIRST_LINE = 256
"""Bytes of a script in which its interpreter must be named (execve(2))."""
MAX_SCRIPT_DEPTH = 5
"""Maximum nesting of script interpreters."""
FIXED_ENVIRONMENT = ["PATH=/usr/bin:/bin", "LANG=C"]
OBEYED = ("GLIBC_TUNABLES", "PYTHONHASHSEED", "TZ")
"""Variables that programs commonly obey,"""
OBEYED_PREFIXES = ("GOMP_", "LC_", "LD_", "MALLOC_", "OMP_")
"""... and how the names of others begin."""

INSTEAD_OF = {
    "help": "; pfmon --help prints the help",
    "list": "; pfmon -l PROGRAM lists the events",
    "script": "; pfmon --export perf-script:FILE PROGRAM writes what perf script prints",
    "top": "; pfmon --live PROGRAM shows counts while a program runs",
    "version": "; pfmon --version prints the version",
}
"""Verbs of perf that pfmon does not have, and the options that do the same."""


def environment(of_host: bool, given: Sequence[str]) -> list[str]:
    """Return NAME=VALUE of every variable; later ones replace earlier ones. ``of_host``: start from pfmon's own;
    ``given``: NAME=VALUE, or NAME of a variable to be passed."""
    start = [f"{name}={value}" for name, value in os.environ.items()] if of_host else FIXED_ENVIRONMENT
    variables = dict(entry.split("=", 1) for entry in start)
    for entry in given:
        name, equals, value = entry.partition("=")
        if equals:
            variables[name] = value
        elif name in os.environ:
            variables[name] = os.environ[name]
        else:
            raise PfmonError(f"--env={name}: there is no such variable here; --env={name}=VALUE sets one")
    return [f"{name}={value}" for name, value in variables.items()]


def dropped_variables(of_host: bool, environment: Sequence[str]) -> list[str]:
    """Variables here that programs commonly obey, and that the program does not get."""
    if of_host:
        return []
    given = {entry.partition("=")[0] for entry in (*FIXED_ENVIRONMENT, *environment)}
    return [name for name in sorted(os.environ) if name not in given and is_obeyed(name)]


def is_obeyed(name: str) -> bool:
    """Whether programs commonly obey a variable of this name."""
    return name in OBEYED or name.startswith(OBEYED_PREFIXES)


def find_program(name: str) -> str:
    """Return the program's path: as given, or without a slash in it from PATH, as a shell does."""
    if "/" in name:
        return name
    from shutil import which

    found = which(name)
    if found is None:
        hint = f"; did you mean ./{name}?" if os.path.exists(name) else INSTEAD_OF.get(name, "")
        raise PfmonError(f"{name}: not found in PATH{hint}")
    return found


def interpreted(command: Sequence[str], sysroot: str | None = None) -> list[str]:
    """Return a command as the kernel executes it: a script is preceded by its interpreter, with at most one argument.
    ``sysroot``: where that is looked for first, and the root in which the program is named. PfmonError: the script is
    not executable, or its interpreter does not exist."""
    words, root = list(command), Sysroot(sysroot)
    for _ in range(MAX_SCRIPT_DEPTH):
        try:
            path = find_program(words[0])
        except PfmonError:  # reported when it is loaded
            return words
        line = _first_line(path)
        if line is None:
            return words
        if not os.access(path, os.X_OK):
            raise PfmonError(f"{path}: is not executable")
        interpreter, *rest = line.split(None, 1) or [""]
        found = os.fsdecode(root.host_path(os.fsencode(interpreter)))
        if not os.path.isfile(found):
            raise PfmonError(f"{path}: its interpreter {interpreter!r} is not here")
        words = [found, *rest, _name_in(root, path), *words[1:]]
    raise PfmonError(f"{command[0]}: scripts interpret one another, more than {MAX_SCRIPT_DEPTH} deep")


def _name_in(root: Sysroot, path: str) -> str:
    """The program's name of a file: in its root, if it is there."""
    folder, name = os.path.split(path)
    whole = os.fsencode(os.path.join(os.path.realpath(folder), name))
    return os.fsdecode(root.guest_path(whole)) if root.directory and root.has(whole) else path


def _first_line(path: str) -> str | None:
    """Return the text after #! in a file; None: it is no script."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # does not block on a pipe
    except (OSError, ValueError):
        return None
    try:
        start = os.read(descriptor, FIRST_LINE)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return os.fsdecode(start[2:].partition(b"\n")[0]).strip(" \t") if start.startswith(b"#!") else None

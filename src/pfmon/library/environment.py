"""The environment that a program starts with."""

import os

from pfmon.errors import PfmonError
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

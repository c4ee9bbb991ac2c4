"""Options that only a PMU in software has: count any number of events at once, and attribute counts exactly."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import BadValueError, PfmonError
from pfmon.library.option_values import directory

TOPIC = "profiles"
TITLE = "Everything at once, and where it happens"
OPTIONS = [
    Option("unlimited", "count any number of events in one run, on as many PMUs as they need; -e all, -e REGEX"),
    Option("per-function", "split the counts by function"),
    Option("per-block", "split the counts by basic block"),
    Option("annotate", "list a function's instructions with their counts", "FUNCTION"),
    Option("symbol-file", "take the program's symbols and lines from FILE, when the program is stripped", "FILE"),
    Option(
        "debug-dir", "look for separate debug files in DIR, before usr/lib/debug below --sysroot and the host's", "DIR"
    ),
    Option("demangle-cpp", "print C++ names as programmers write them (the default)"),
    Option("no-demangle", "print C++ names as the linker has them"),
    Option("print-syms", "print the symbols of the program before it runs: address, size, T (code) or D (data), name"),
]
FLAGS = {"unlimited": "unlimited", "per-function": "per_function", "per-block": "per_block"}
VALUES = {"annotate": "annotate", "symbol-file": "symbol_file"}


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name in ("demangle-cpp", "no-demangle"):
        demangle = given.name == "demangle-cpp"
        if config.demangle_given not in (None, demangle):
            raise PfmonError("--demangle-cpp and --no-demangle exclude each other")
        config.demangle = config.demangle_given = demangle
        return
    if given.name == "print-syms":
        config.print_syms = True
        return
    if given.name in FLAGS:
        setattr(config, FLAGS[given.name], True)
        return
    if given.name == "debug-dir":
        config.debug_dirs.append(directory(given.name, given.value or ""))
        return
    if not given.value:
        raise BadValueError(f"--{given.name} wants a value")
    setattr(config, VALUES[given.name], given.value)

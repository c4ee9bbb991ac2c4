"""The command ``pfmon``."""

from __future__ import annotations

import gc
import os
import sys

from pfmon import code_cache
from pfmon.errors import PfmonError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

SUBCOMMANDS = ("diff", "sweep")


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status."""
    words = sys.argv[1:] if words is None else words
    try:
        return _do(words)
    except PfmonError as error:
        for line in _lines(words, error):
            sys.stderr.write(f"pfmon: {line}\n")
        return error.exit_status
    except BrokenPipeError:
        # Whoever read our output has gone; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141


def _lines(words: Sequence[str], error: PfmonError) -> list[str]:
    """What to say of an error: of a mistake on the command line, with all others there."""
    if error.exit_status != PfmonError.exit_status or (words and words[0] in SUBCOMMANDS):
        return [str(error)]
    from pfmon.cli.mistakes import all_mistakes

    return all_mistakes(words, error)


def _do(words: Sequence[str]) -> int:
    if words and words[0] in SUBCOMMANDS:
        from pfmon.cli.subcommand import run_subcommand

        return run_subcommand(words)
    from pfmon.cli.command_line import a_program_is_given, read

    config, command = read(words)
    if config.action:
        from pfmon.cli.listing import answer

        sys.stdout.write(answer(config, command))
        sys.stdout.flush()
        return 0
    a_program_is_given(config, command)
    if any("%" in word for word in words):
        from pfmon.cli.file_names import expand_file_names  # few names have numbers in them

        expand_file_names(config)
    if config.two_programs:
        from pfmon.cli import core  # few runs are of two

        return core.run(config, command)
    from pfmon.cli.count import run

    return run(config, command)


def command() -> NoReturn:
    """The command as a process of its own: ends it, without the time that taking its memory apart would need."""
    if "_ARGCOMPLETE" in os.environ:
        from pfmon.cli.completion import complete  # a shell asks

        complete()
    gc.disable()  # what is loaded stays, and the collector would look through it again and again
    cache = code_cache.install()
    try:
        status = main()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # closed when pfmon was started
                stream.flush()
    except BrokenPipeError:
        status = 141
    except KeyboardInterrupt:  # before there was anything to stop, or once more while results are written
        status = 130
    cache.keep()
    os._exit(status)


if __name__ == "__main__":
    command()

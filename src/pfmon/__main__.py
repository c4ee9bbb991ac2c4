"""The command ``pfmon``."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from pfmon.cli.first_words import SUBCOMMANDS, VERBS
from pfmon.cli.output.printing import print_notice
from pfmon.cli.output_options import OutputOptions
from pfmon.debug_log import log_phase
from pfmon.errors import LostError, PfmonError, reason
from pfmon.library.options.run_options import Options

LIMITS = {errno.EMFILE: "n", errno.EFBIG: "f", errno.ENOMEM: "v"}
"""Error numbers that a limit of the shell's leads to, and its option."""
WAYS_OUT = {"f": "; memory that pfmon shares with its processes counts as files too: raise the limit"}
"""Advice, by the limit's option."""


def main(words: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status."""
    words = sys.argv[1:] if words is None else words
    sys.unraisablehook = _unraisable
    try:
        return _do_or_say(words)
    except BrokenPipeError:
        # The reader of standard output has gone: the interpreter is not to report that at exit.
        _nothing_more_is_printed()
        return 141
    except (OSError, MemoryError, ImportError) as error:
        # The host has no more of something: descriptors, memory, room.
        _nothing_more_is_printed()
        print_notice(_lacking(error))
        return LostError.exit_status


def _do_or_say(words: Sequence[str]) -> int:
    """Do what it says, or say what is wrong with it; the exit status."""
    try:
        return _do(words)
    except PfmonError as error:
        for line in _lines(words, error):
            print_notice(line)
        return error.exit_status


def _unraisable(told: sys.UnraisableHookArgs) -> None:
    """An exception that nobody can catch: that memory is short is said where it was asked for."""
    if not issubclass(told.exc_type, MemoryError):
        sys.__unraisablehook__(told)


def _lacking(error: OSError | MemoryError | ImportError) -> str:
    """The resource that the host lacks, in a line."""
    name = getattr(error, "filename", None)
    what = f"{os.fsdecode(name)}: " if isinstance(name, (str, bytes)) else ""
    limit = (
        "v"
        if isinstance(error, MemoryError)
        else LIMITS.get(error.errno or 0, "")
        if isinstance(error, OSError)
        else ""
    )
    return f"the run is lost: {what}{reason(error)}{f' (ulimit -{limit})' if limit else ''}{WAYS_OUT.get(limit, '')}"


def _nothing_more_is_printed() -> None:
    """Standard output takes no more; the interpreter is not to complain of it at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), 1)
    except OSError:
        sys.stdout = None


def _standard_files_are_open() -> None:
    """Descriptors 0 to 2 that are closed stand for nothing, and not for the files that are opened next. Programs do not
    inherit them: they stay closed there."""
    while (descriptor := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) <= 2:
        continue
    os.close(descriptor)


def _lines(words: Sequence[str], error: PfmonError) -> list[str]:
    """Return the lines that report an error; for a mistake on the command line, all mistakes on it."""
    if (
        error.exit_status != PfmonError.exit_status
        or error.during_run
        or (words and words[0] in (*SUBCOMMANDS, *VERBS))
    ):
        return [str(error)]
    from pfmon.cli.command_line_errors import all_mistakes

    return all_mistakes(words, error)


def _do(words: Sequence[str]) -> int:
    if words and words[0] in SUBCOMMANDS:
        from pfmon.cli.commands.subcommand import run_subcommand

        return run_subcommand(words)
    if words and words[0] in VERBS:
        from pfmon.cli.commands.verb import run_verb

        return run_verb(words, _do_or_say)
    from pfmon.cli.command_line import a_program_is_given, read

    options, output, command = read(words)
    if output.action:
        from pfmon.cli.commands.queries import note_on_list, query_text
        from pfmon.cli.output.printing import print_notice, show

        show(query_text(options, output, command))
        if note := note_on_list(options, output, command):
            print_notice(note)
        return 0
    a_program_is_given(options, command)
    if any("%" in word for word in words):
        from pfmon.cli.output.file_name_templates import expanded_file_names

        with expanded_file_names(options, output) as own:
            return _run(*own, command)
    return _run(options, output, command)


def _run(options: Options, output: OutputOptions, command: Sequence[str]) -> int:
    """Run what is to be run; the exit status."""
    if options.two_programs:
        from pfmon.cli.commands import coupled_command

        status = coupled_command.run(options, output, command)
    else:
        from pfmon.cli.commands.count import run

        status = run(options, output, command)
    log_phase("report")
    return status


def command() -> NoReturn:
    """Run the command as a process and exit without freeing its memory, which would take time."""
    if "_ARGCOMPLETE" in os.environ:
        from pfmon.cli.commands.completion import complete

        complete()
    _standard_files_are_open()
    gc.disable()  # what is loaded stays, and the collector would look through it again and again
    try:
        status = main()
        if sys.stdout is not None:  # closed when pfmon was started
            sys.stdout.flush()
    except BrokenPipeError:
        status = 141
    except OSError:  # what could not be printed has been said
        status = LostError.exit_status
    except KeyboardInterrupt:  # before there was anything to stop, or once more while results are written
        status = 130
    os._exit(status)


if __name__ == "__main__":
    command()

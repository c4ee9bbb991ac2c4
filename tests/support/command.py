"""Running the pfmon command as a user does."""

import gc
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from traceback import print_exc
from typing import BinaryIO, NoReturn

import pfmon as library
from pfmon import pmu
from pfmon.__main__ import command as end_as_the_command
from pfmon.__main__ import main
from pfmon.machine.config import machine_config

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SECONDS = 120


def example(name: str) -> str:
    """The path of an example program."""
    return str(EXAMPLES / "ia64" / name)


@cache
def load_everything() -> None:
    """What a command imports where it needs it, the files that it reads, and the tables that a first run makes: once
    for all children."""
    folder = Path(library.__file__).parent
    for path in folder.rglob("*.py"):
        if path.stem[0] != "_" and not path.is_relative_to(folder / "testing"):
            import_module(".".join(("pfmon", *path.relative_to(folder).with_suffix("").parts)))
    for name in pmu.names():
        pmu.get(name)
    for machine in machine_config.FILES:
        machine_config.load(machine)
    for name in pmu.IA64:
        library.run([example("fib"), "3"], pmu=name, report="cpi", stdout=library.DEVNULL)


def pfmon(*words: str) -> subprocess.CompletedProcess[str]:
    """What the command prints and returns, in a child of this process: its modules are there already."""
    load_everything()
    return forked(words, lambda: main(words))


def pfmon_after(before: Callable[[], object], *words: str) -> subprocess.CompletedProcess[str]:
    """The same behind a function that changes the child: limits, the directory, standard files.

    It prints into pipes, whose size no limit concerns: no more than they hold (pipe(7)).
    """
    return _text(bytes_after(before, *words))


def bytes_after(before: Callable[[], object], *words: str) -> subprocess.CompletedProcess[bytes]:
    """The same of a program that prints any bytes."""
    load_everything()

    def command() -> NoReturn:
        before()
        sys.argv[1:] = words
        end_as_the_command()

    return _forked(words, command, _pipe(), _pipe())


def forked(words: Sequence[str], command: Callable[[], int]) -> subprocess.CompletedProcess[str]:
    """What a function prints in a child of this process, and the status that it returns; ``words`` name it."""
    return _text(_forked(words, command, *((file, file) for file in (TemporaryFile(), TemporaryFile()))))


def _text(done: subprocess.CompletedProcess[bytes]) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


Ends = tuple[BinaryIO, BinaryIO]
"""Of a file: where it is read, and where it is written."""


def _pipe() -> Ends:
    reader, writer = os.pipe()
    return os.fdopen(reader, "rb"), os.fdopen(writer, "wb")


def _forked(
    words: Sequence[str], command: Callable[[], int], out: Ends, err: Ends
) -> subprocess.CompletedProcess[bytes]:
    """The same; its standard output and error are these."""
    child = os.fork()
    if not child:
        become(command, out[1], err[1])
    _wait(child)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return subprocess.CompletedProcess(words, status, _written(out), _written(err))


def _written(ends: Ends) -> bytes:
    """All that is in a file, which is then closed."""
    reader, writer = ends
    if reader is not writer:
        writer.close()
    with reader:
        if reader.seekable():
            reader.seek(0)
        return reader.read()


def become(command: Callable[[], int], out: BinaryIO, err: BinaryIO) -> NoReturn:
    """The child: its standard files are these, its end is the command's."""
    status = 70
    gc.freeze()  # what tests keep is none of the command's: to look for garbage in it takes longer than all else
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        status = command()
        sys.stdout.flush()
    except BaseException:
        print_exc()
    finally:
        os._exit(status)


def _wait(child: int) -> None:
    """Until the child has ended; after two minutes it is ended."""
    end = os.pidfd_open(child)
    if not select.select([end], [], [], SECONDS)[0]:
        os.kill(child, signal.SIGKILL)
    os.close(end)


def refused(*words: str) -> str:
    """The one line that a mistake gets: exit status 2, nothing on standard output, no traceback."""
    done = pfmon(*words)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.startswith("pfmon: ")
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n")
    return done.stderr

"""Running the pfmon command as a user does."""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from traceback import print_exc
from typing import BinaryIO, NamedTuple, NoReturn

import pfmon as library
from pfmon import pmu
from pfmon.__main__ import command as end_as_the_command
from pfmon.__main__ import main
from pfmon.machine.config import machine_config

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SECONDS = 120
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PFMON_")}
"""As it is before any test changes it."""


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
    """What the command prints and returns, in a process of its own that has its modules already."""
    return _text(_run(words, _file(), _file(), lambda out, err: _served(words, out, err)))


def pfmon_here(*words: str) -> subprocess.CompletedProcess[str]:
    """The same in a child of this process, whose modules may have been changed."""
    load_everything()
    return forked(words, lambda: main(words))


def piped(*words: str) -> subprocess.CompletedProcess[bytes]:
    """The same as users have it in a pipeline: its input is empty, and it prints into pipes, no more than they hold."""
    with Path(os.devnull).open("rb") as nothing:
        return _run(words, _pipe(), _pipe(), lambda out, err: _served(words, out, err, nothing.fileno(), ends=True))


def pfmon_given(given: int, *words: str) -> subprocess.CompletedProcess[str]:
    """The same with that descriptor as its standard input."""
    return _text(_run(words, _file(), _file(), lambda out, err: _served(words, out, err, given)))


def pfmon_after(before: Callable[[], object], *words: str) -> subprocess.CompletedProcess[str]:
    """The same in a child of this process, behind a function that changes the child: limits, the directory, standard
    files. It prints into pipes, whose size no limit concerns: no more than they hold (pipe(7))."""
    load_everything()

    def command() -> NoReturn:
        before()
        sys.argv[1:] = words
        end_as_the_command()

    return _text(_run(words, _pipe(), _pipe(), lambda out, err: _forked(command, out, err)))


def forked(words: Sequence[str], command: Callable[[], int]) -> subprocess.CompletedProcess[str]:
    """What a function prints in a child of this process, and the status that it returns; ``words`` name it."""
    return _text(_run(words, _file(), _file(), lambda out, err: _forked(command, out, err)))


Ends = tuple[BinaryIO, BinaryIO]
"""Of a file: where it is read, and where it is written."""


def _file() -> Ends:
    file = TemporaryFile()  # noqa: SIM115  # closed when it is read
    return file, file


def _pipe() -> Ends:
    reader, writer = os.pipe()
    return os.fdopen(reader, "rb"), os.fdopen(writer, "wb")


def _run(
    words: Sequence[str], out: Ends, err: Ends, run: Callable[[int, int], int]
) -> subprocess.CompletedProcess[bytes]:
    """What something printed into two files, whose descriptors it is given, and the status that it returned."""
    status = run(out[1].fileno(), err[1].fileno())
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


def _text(done: subprocess.CompletedProcess[bytes]) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


class Server(NamedTuple):
    """command_server.py: where it takes requests, and its process."""

    requests: socket.socket
    process: "subprocess.Popen[bytes]"


@cache
def _server() -> Server:
    """Of this process."""
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    words = [sys.executable, str(Path(__file__).with_name("command_server.py")), str(its.fileno())]
    nothing = subprocess.DEVNULL
    caches = {name: value for name, value in os.environ.items() if name == "PYTHONPYCACHEPREFIX"}
    process = subprocess.Popen(
        words, cwd="/", env=ENVIRONMENT | caches, pass_fds=[its.fileno()], stdin=nothing, stdout=nothing
    )
    its.close()
    return Server(mine, process)


def end_server() -> None:
    """Behind the last test."""
    if _server.cache_info().currsize:
        server = _server()
        server.requests.shutdown(socket.SHUT_RDWR)  # also of copies that children may have
        server.process.wait()


def _served(words: Sequence[str], out: int, err: int, given: int = 0, ends: bool = False) -> int:
    """Have the server run it, here and with what is here in the environment; the exit status."""
    umask = os.umask(0)
    os.umask(umask)
    request = {"words": words, "environment": dict(os.environ), "umask": umask, "ends": ends}
    folder = os.open(".", os.O_PATH | os.O_DIRECTORY)
    try:
        socket.send_fds(_server().requests, [json.dumps(request).encode()], [given, out, err, folder])
        return int(_server().requests.recv(64))
    except BaseException:  # the time of the test is over: what this server answers later is for nobody
        _server().requests.shutdown(socket.SHUT_RDWR)
        _server.cache_clear()
        raise
    finally:
        os.close(folder)


def _forked(command: Callable[[], int], out: int, err: int) -> int:
    """Run a function in a child; the exit status."""
    child = os.fork()
    if not child:
        become(command, out, err)
    return status_of(child)


def become(command: Callable[[], int], out: int, err: int) -> NoReturn:
    """The child: its standard files are these, its end is the command's."""
    status = 70
    gc.freeze()  # what tests keep is none of the command's: to look for garbage in it takes longer than all else
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        status = command()
        sys.stdout.flush()
    except BaseException:
        print_exc()
    finally:
        os._exit(status)


def status_of(child: int) -> int:
    """How a child ends; after two minutes it is ended."""
    end = os.pidfd_open(child)
    if not select.select([end], [], [], SECONDS)[0]:
        os.kill(child, signal.SIGKILL)
    os.close(end)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def refused(*words: str, run: Callable[..., subprocess.CompletedProcess[str]] = pfmon) -> str:
    """The one line that a mistake gets: exit status 2, nothing on standard output, no traceback."""
    done = run(*words)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.startswith("pfmon: ")
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n")
    return done.stderr

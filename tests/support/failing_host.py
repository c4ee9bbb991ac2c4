"""Commands again and again, each time in a child whose N-th call of a kind the host refuses.

Started with failing_host.c loaded before the C library. Reads a request a line: a JSON object with folder, kind, names
(of the user's files) and words (the command). Answers with a line, an array: one run for each N, with N, exit status,
standard output, standard error, calls of that kind and the files of the folder; the first one (0) is the run that
nothing fails in, and has as many calls as others follow it. Before each, the files of the folder are those that
``mine`` makes.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

SECONDS = 20
OWN = ("sweep/lock", "sweep/cells/", "sweep/recordings/")
"""Files of a sweep's own, which the next one continues with."""
START_TIMEOUT = 0.3
"""Seconds in which a thread begins that has memory."""


def mine(folder: Path, names: list[str]) -> None:
    """What the user has: a file of each name, with its name in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"mine: {name}\n")


def one(kind: str, number: int, words: list[str], folder: Path, names: list[str]) -> dict[str, Any]:
    """One run."""
    from command import become

    from pfmon.__main__ import main as command

    mine(folder, names)
    host = ctypes.CDLL(None)
    with TemporaryFile() as out, TemporaryFile() as err, TemporaryFile() as count:
        child = os.fork()
        if not child:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os._exit = _counted(os._exit, host, count.fileno())  # type: ignore[assignment]
            host.failing_host_begin(kind.encode(), number)
            become(lambda: command(words), out.fileno(), err.fileno())
        end = os.pidfd_open(child)
        hangs = not select.select([end], [], [], SECONDS)[0]
        if hangs:
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(end)
        texts = []
        for file in (out, err, count):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    files = {
        name.replace(str(child), "PID"): path.read_bytes().hex()
        for name, path in found.items()
        if not name.startswith(OWN)
    }
    return {
        "number": number,
        "status": "hangs" if hangs else status,
        "out": texts[0],
        "err": texts[1].replace(str(child), "PID"),
        "files": files,
        "calls": int(texts[2] or 0),
    }


def _counted(leave: Any, host: Any, file: int) -> Any:
    def left(status: int) -> None:
        calls = host.failing_host_count()
        host.failing_host_begin(b"", 0)
        os.write(file, str(calls).encode())
        leave(status)

    return left


def main() -> None:
    """Answer all requests."""
    sys.dont_write_bytecode = True  # which would be calls of the first run alone
    sys.path.insert(0, str(Path(__file__).parent))
    from command import load_everything

    from pfmon import worker

    load_everything()
    with suppress(ImportError):
        import_module("pyarrow.parquet")  # takes a second
    worker.START_TIMEOUT = START_TIMEOUT
    for line in sys.stdin:
        wanted = json.loads(line)
        names, folder = wanted["names"], Path(wanted["folder"])
        done = [one(wanted["kind"], 0, wanted["words"], folder, names)]
        for number in range(1, done[0]["calls"] + 1):
            done.append(one(wanted["kind"], number, wanted["words"], folder, names))
        print(json.dumps(done), flush=True)


if __name__ == "__main__":
    main()

"""One command again and again, each time in a child whose N-th call of a kind the host refuses.

``python failing_host.py FOLDER KIND WORD...``: started with failing_host.c loaded before the C library. Prints a JSON
object for each N: N, exit status, standard output, standard error, files of the folder; the first one (0) is the run
that nothing fails in, the last one the first in which there was no N-th call. Before each, the files of the folder are
those that ``mine`` makes.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

SECONDS = 20
MOST = 2000


def mine(folder: Path, names: list[str]) -> None:
    """What the user has: a file of each name, with its name in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text(f"mine: {name}\n")


def one(kind: str, number: int, words: list[str], folder: Path, names: list[str]) -> dict[str, Any]:
    """One run."""
    from command import _become_the_command

    mine(folder, names)
    host = ctypes.CDLL(None)
    with TemporaryFile() as out, TemporaryFile() as err, TemporaryFile() as count:
        child = os.fork()
        if not child:
            os.setsid()
            os._exit = _counted(os._exit, host, count.fileno())  # type: ignore[assignment]
            host.failing_host_begin(kind.encode(), number)
            _become_the_command(tuple(words), out, err)
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
    files = {path.name: path.read_bytes().hex() for path in sorted(folder.iterdir())}
    return {
        "number": number,
        "status": "hangs" if hangs else status,
        "out": texts[0],
        "err": texts[1],
        "files": files,
        "calls": int(texts[2] or -1),
    }


def _counted(leave: Any, host: Any, file: int) -> Any:
    def left(status: int) -> None:
        calls = host.failing_host_count()
        host.failing_host_begin(b"", 0)
        os.write(file, str(calls).encode())
        leave(status)

    return left


def main() -> None:
    """Print them all."""
    folder, kind, count, *rest = sys.argv[1:]
    names, words = rest[: int(count)], rest[int(count) :]
    sys.path.insert(0, str(Path(__file__).parent))
    from command import load_everything

    load_everything()
    for number in range(MOST):
        done = one(kind, number, words, Path(folder), names)
        print(json.dumps(done), flush=True)
        if number and done["calls"] < number:
            return


if __name__ == "__main__":
    main()
